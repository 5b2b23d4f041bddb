import { useEffect } from 'react';
import { useSession } from '../../api/session.ts';
import { announceSignIn } from '../../api/sign-in.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { EmptyPage, SignedOut } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';

/** The end of a sign-in in a new tab: the page that asked for it continues, and this tab closes. */
export function SignedInPage() {
  const session = useSession();
  return (
    <Resource query={session} what="the page">
      {(found) =>
        found === null ? (
          <SignedOut why="The sign-in was not finished." />
        ) : (
          <SignedInTab userId={found.userId} />
        )
      }
    </Resource>
  );
}

function SignedInTab({ userId }: { readonly userId: string }) {
  useEffect(() => {
    announceSignIn(userId);
    // Browsers close only tabs that a page opened.
    window.close();
  }, [userId]);
  return (
    <EmptyPage title="You are signed in">
      <p>You can close this tab and go on in the one where you were.</p>
      <ButtonLink to="/">To the start</ButtonLink>
    </EmptyPage>
  );
}
