import type { ReactNode } from 'react';
import { useSession } from '../api/session.ts';
import { SignedOut } from './notice.tsx';
import { Resource } from './resource.tsx';

/** Renders pages that require a signed-in person. */
export function SignedIn({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  return (
    <Resource query={session} what="the page">
      {(found) =>
        found === null ? <SignedOut why="This page is about you, so it has to know who you are." /> : children
      }
    </Resource>
  );
}
