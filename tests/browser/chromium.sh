#!/bin/sh
# Sees to it that the browser tests find a Chromium, as far as that can be done here: installs
# Debian's where there is none and we may. Never fails; without one those tests are skipped.
found() {
    command -v "${DELPHI_CHROMIUM:-chromium}" || command -v chromium-browser ||
        command -v google-chrome || command -v google-chrome-stable
}
found >/dev/null && exit 0
if [ -z "${DELPHI_CHROMIUM:-}" ] && command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
    echo "Installing Chromium for the browser tests ..."
    export DEBIAN_FRONTEND=noninteractive
    { apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium; } \
        >/dev/null 2>&1
fi
found >/dev/null || echo "No Chromium: the browser tests will be skipped (DELPHI_CHROMIUM may name one)."
exit 0
