import type { Reading } from '@phds/sdk';

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [720, 320, 60, 36];

/** A line through the values, oldest on the left, as SVG. */
export function drawChart(readings: readonly Reading[]): string {
  const points = readings.flatMap(({ timestamp, value }) =>
    value === null ? [] : [{ at: Date.parse(timestamp), value }],
  );
  if (points.length < 2) return '<p>Too few readings for a chart.</p>';
  const [first, last] = [Math.min(...points.map(({ at }) => at)), Math.max(...points.map(({ at }) => at))];
  const [low, high] = [40, Math.max(120, ...points.map(({ value }) => value))];
  const x = (at: number) => LEFT + ((at - first) / (last - first || 1)) * (WIDTH - LEFT);
  const y = (value: number) => (HEIGHT - BOTTOM) * (1 - (value - low) / (high - low));
  const day = (at: number) => new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  const marks = [60, 80, 100, 120, 140, 160, 180]
    .filter((value) => value <= high)
    .map(
      (value) => `<line x1="${LEFT}" x2="${WIDTH}" y1="${y(value)}" y2="${y(value)}"/>
      <text x="${LEFT - 8}" y="${y(value) + 5}" text-anchor="end">${value}</text>`,
    );
  const line = points.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Heart rate from ${day(first)} to ${day(last)}, per minute">
    ${marks.join('')}<polyline points="${line}"/>
    <text x="${LEFT}" y="${HEIGHT - 6}">${day(first)}</text><text x="${WIDTH}" y="${HEIGHT - 6}" text-anchor="end">${day(last)}</text></svg>`;
}
