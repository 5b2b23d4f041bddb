import type { ReactNode } from 'react';

/** A link to the page of a connection, beside this page, whose choices stay. */
export function ConnectionLink({ id, children }: { readonly id: string; readonly children?: ReactNode }) {
  return (
    <a href={`/apps/${encodeURIComponent(id)}`} target="_blank" rel="noopener">
      {children}
    </a>
  );
}
