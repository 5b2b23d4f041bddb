import type { ReactNode } from 'react';
import { useSession } from '../api/session.ts';
import { text } from '../texts/frame.ts';
import { SignedOut } from './notice.tsx';
import { Resource } from './resource.tsx';

/** Renders pages that require a signed-in person. */
export function SignedIn({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  return (
    <Resource isPage query={session}>
      {(found) => (found === null ? <SignedOut why={text('whySignIn')} /> : children)}
    </Resource>
  );
}
