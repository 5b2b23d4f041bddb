import { useEffect } from 'react';
import { useSession } from '../../api/session.ts';
import { text } from '../../texts/frame.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { EmptyPage, SignedOut } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';

/** The end of a sign-in in a new tab: the page that asked for it hears of the session and continues, and this tab closes. */
export function SignedInPage() {
  const session = useSession();
  return (
    <Resource isPage query={session}>
      {(found) => (found === null ? <SignedOut why={text('signInNotFinished')} /> : <SignedInTab />)}
    </Resource>
  );
}

function SignedInTab() {
  // Browsers close only tabs that a page opened.
  useEffect(() => window.close(), []);
  return (
    <EmptyPage title={text('signedInTitle')}>
      <p>{text('signedInText')}</p>
      <ButtonLink to="/">{text('toStart')}</ButtonLink>
    </EmptyPage>
  );
}
