"""The part of a chart that a visitor has zoomed to, as a part of the view.

Streamlit tells a page of selections, not of zooms, and draws a chart anew, whole, when its figures
change: what was zoomed to would be lost, and would be in no link. So a part without a look of its
own listens to the chart in the browser, and says what its axes show.
"""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from delphi_core.web.view_state import ZOOM, parse_zoom

_LISTEN = """
export default function (component) {
  const { data, setTriggerValue } = component;
  let chart = null;
  const zoomed = (change) => {
    const names = Object.keys(change);
    if (names.some((name) => /^[xy]axis\\d*\\.autorange$/.test(name))) {
      setTriggerValue("range", "");
    } else if (names.some((name) => /^[xy]axis\\d*\\.range/.test(name))) {
      const { xaxis, yaxis } = chart.layout;
      const ends = [...xaxis.range, ...yaxis.range].map((end) => +Number(end).toPrecision(5));
      setTriggerValue("range", ends.join(","));
    }
  };
  const attach = () => {
    const found = document.querySelector(`.st-key-${data} .js-plotly-plot`);
    if (found && found !== chart && found.on) {
      chart = found;
      chart.on("plotly_relayout", zoomed);
    }
  };
  const observer = new MutationObserver(attach);
  observer.observe(document.body, { childList: true, subtree: true });
  attach();
  return () => {
    observer.disconnect();
    if (chart && chart.removeListener) chart.removeListener("plotly_relayout", zoomed);
  };
}
"""


def zoomed(figure: go.Figure, text: str) -> go.Figure:
    """A copy of a figure, its first panel and the x axes that go with it zoomed."""
    ends = parse_zoom(text)
    if ends is None:
        return figure
    copy = go.Figure(figure)
    copy.update_xaxes(range=ends[:2], autorange=False)
    copy.update_layout(yaxis={"range": ends[2:], "autorange": False})
    return copy


def listen_to_zoom(chart: str) -> None:
    """Make what a visitor zooms to in a chart a part of the view.

    Parameters
    ----------
    chart
        Key of the chart.
    """
    key = f"{chart}_zoom"

    def note() -> None:
        zoomed = st.session_state[key]["range"]
        if zoomed is not None:
            st.session_state[ZOOM] = zoomed

    listener = st.components.v2.component("zoom_listener", js=_LISTEN)
    listener(data=chart, key=key, height=0, on_range_change=note)
