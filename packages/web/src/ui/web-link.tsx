import type { ReactNode } from 'react';

/** A link to another site; renders nothing for an invalid URL. */
export function WebLink({ url, children }: { readonly url: string | null; readonly children: ReactNode }) {
  if (url === null || !/^https?:\/\//.test(url)) return null;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
