/** Keeps a uPlot chart in an element: redrawn for new data or a new theme, and as wide as the element. */
import { type RefObject, useEffect } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Plot {
  options: UPlot.Options;
  data: UPlot.AlignedData;
}

/** A new `make` function redraws the chart. */
export function usePlot(place: RefObject<HTMLElement | null>, make: (width: number) => Plot): void {
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let chart: UPlot | undefined;
    const draw = () => {
      chart?.destroy();
      const { options, data } = make(element.clientWidth);
      chart = new UPlot(options, data, element);
    };
    draw();
    const resized = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height: chart.height }));
    resized.observe(element);
    // A canvas does not follow the theme's CSS variables.
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      chart?.destroy();
    };
  }, [place, make]);
}

/** Returns the colours of the current theme and the font of the page. */
export function plotLook(): { colour: (name: string) => string; font: string } {
  const theme = getComputedStyle(document.documentElement);
  return {
    colour: (name) => theme.getPropertyValue(`--${name}`),
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
  };
}
