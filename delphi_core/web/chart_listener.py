"""A part without a look of its own that stands by a chart in the browser.

It does what Streamlit's charts do not: it tells the page what a visitor has zoomed to, and saves
the chart from its menu as PNG and as SVG, with its finding above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from delphi_core.web.view_state import ZOOM

if TYPE_CHECKING:
    from collections.abc import Mapping

_LISTEN = """
const ZOOMED = /^[xy]axis\\d*\\.range/;
const WHOLE = /^[xy]axis\\d*\\.autorange$/;
const FORMATS = ["png", "svg"];
// This module is there once a page, and its function is called again whenever its data change, but
// told to end only once: what listens to a chart now, by the chart's key.
const listeners = new Map();

// Plotly's own button saves; it copies format and layout while it is clicked.
const save = (chart, key, button, format) => {
  const options = chart._context.toImageButtonOptions;
  const { layout } = chart;
  const headed = { ...layout };
  for (const [name, own] of Object.entries(listeners.get(key).heading)) {
    headed[name] = { ...layout[name], ...own };
  }
  try {
    options.format = format;
    chart.layout = headed;
    button.click();
  } finally {
    options.format = "png";
    chart.layout = layout;
  }
};

const addButtons = (chart, key) => {
  const own = chart.querySelector('.modebar-btn[data-title^="Download plot"]');
  if (!own || own.hidden) return;
  for (const format of FORMATS) {
    const name = format.toUpperCase();
    const button = own.cloneNode(false);
    button.dataset.title = `Save as ${name}`;
    button.setAttribute("aria-label", `Save as ${name}`);
    button.textContent = name;
    button.style.cssText = "font-size: 11px; font-weight: 600; color: inherit;";
    button.addEventListener("click", () => save(chart, key, own, format));
    own.before(button);
  }
  own.hidden = true;
  own.style.display = "none";
};

export default function (component) {
  const { data, setTriggerValue } = component;
  const key = data.chart;
  listeners.get(key)?.stop();
  let chart = null;

  const zoomed = (change) => {
    const names = Object.keys(change);
    if (names.some((name) => WHOLE.test(name))) {
      setTriggerValue("range", "");
    } else if (names.some((name) => ZOOMED.test(name))) {
      const { xaxis, yaxis } = chart.layout;
      const ends = [...xaxis.range, ...yaxis.range].map((end) => +Number(end).toPrecision(5));
      setTriggerValue("range", ends.join(","));
    }
  };
  const attach = () => {
    const found = document.querySelector(`.st-key-${key} .js-plotly-plot`);
    if (!found || !found.on) return;
    if (found !== chart) {
      chart = found;
      if (data.zoom) chart.on("plotly_relayout", zoomed);
    }
    // Plotly makes its menu anew when what can be done in a chart changes.
    addButtons(chart, key);
  };
  const observer = new MutationObserver(attach);
  const stop = () => {
    observer.disconnect();
    if (data.zoom && chart?.removeListener) chart.removeListener("plotly_relayout", zoomed);
  };
  const listener = { heading: data.heading, stop };
  listeners.set(key, listener);
  observer.observe(document.body, { childList: true, subtree: true });
  attach();
  return () => {
    stop();
    if (listeners.get(key) === listener) listeners.delete(key);
  };
}
"""


def listen_to_chart(chart: str, heading: Mapping[str, Any], *, zoom: bool) -> None:
    """Add pictures to a chart's menu, and make what it is zoomed to a part of the view.

    Parameters
    ----------
    chart
        Key of the chart.
    heading
        What a picture of the chart has in its layout besides the chart's own.
    zoom
        Whether what it is zoomed to is a part of the view.
    """
    key = f"{chart}_listener"

    def note() -> None:
        zoomed = st.session_state[key]["range"]
        if zoomed is not None:
            st.session_state[ZOOM] = zoomed

    listener = st.components.v2.component("chart_listener", js=_LISTEN)
    data = {"chart": chart, "heading": dict(heading), "zoom": zoom}
    listener(data=data, key=key, height=0, on_range_change=note)
