import { isPhdsError } from '@phds/sdk';

const STYLE = `
  :root { color-scheme: light dark; font: 1.1rem/1.5 system-ui, sans-serif }
  body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
  button { font: inherit; padding: .6rem 1.4rem; border: 0; border-radius: .5rem; background: #b3204d; color: #fff }
  svg { width: 100%; margin: 1rem 0; font-size: 14px; overflow: visible }
  @media (max-width: 30rem) { svg { font-size: 26px } }
  polyline { fill: none; stroke: light-dark(#b3204d, #ff7a9e); stroke-width: 1.5 }
  text { fill: currentColor } line { stroke: light-dark(#ccc, #555) }`;

/** A text, one button and a chart. */
export function showContent(text: string, action: 'connect' | 'disconnect', chart = ''): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const label = action === 'connect' ? 'Connect' : 'Disconnect';
  return `<h1>Heart chart</h1><p>${escaped}</p>${chart}
    <form method="post" action="/${action}"><button>${label}</button></form>`;
}

export function showPage(content: string, script = ''): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Heart chart</title>
    <meta name="viewport" content="width=device-width"><style>${STYLE}</style>${script}<main>${content}</main></html>`;
}

/** Whether nothing but "Connect" helps. */
export function isOver(error: unknown): boolean {
  return isPhdsError(error) && (error.needsNewApproval || error.code === 'ACCESS_DENIED');
}

/** What the person reads about an error. */
export function explain(error: unknown): string {
  if (isPhdsError(error, 'ACCESS_DENIED')) return 'You did not share your heart rate.';
  if (isOver(error))
    return 'The connection has ended: you ended it, or it was not used for long. You can connect again.';
  if (isPhdsError(error, 'CONNECTION_FAILED')) return 'The service does not answer. Try again later.';
  return 'Something went wrong. Try again later.';
}
