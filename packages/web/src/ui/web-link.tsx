import type { ReactNode } from 'react';

/** The element `link` of a message, to a page of this service that is not of this app. */
export function linkTo(href: string) {
  // biome-ignore lint/a11y/useAnchorContent: the message has the content.
  return { link: <a href={href} /> };
}

/** A link to another site; renders nothing for an invalid URL. */
export function WebLink({ url, children }: { readonly url: string | null; readonly children: ReactNode }) {
  if (url === null || !/^https?:\/\//.test(url)) return null;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
