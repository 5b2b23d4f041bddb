import { useEffect } from 'react';
import { useSession } from '../../api/session.ts';
import { announceSignIn } from '../../api/sign-in.ts';
import { text } from '../../texts/frame.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { EmptyPage, SignedOut } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';

/** The end of a sign-in in a new tab: the page that asked for it continues, and this tab closes. */
export function SignedInPage() {
  const session = useSession();
  return (
    <Resource query={session}>
      {(found) =>
        found === null ? <SignedOut why={text('signInNotFinished')} /> : <SignedInTab userId={found.userId} />
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
    <EmptyPage title={text('signedInTitle')}>
      <p>{text('signedInText')}</p>
      <ButtonLink to="/">{text('toStart')}</ButtonLink>
    </EmptyPage>
  );
}
