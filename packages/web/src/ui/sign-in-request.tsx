import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { setAsking, signInUrl, useSignIn } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import { Button, ButtonAnchor } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** The page that a sign-in in a new tab returns to. */
const RETURN_PATH = '/signed-in';

/**
 * Asks the person to sign in when the service demands it, without leaving the page. When they have done so in any tab, what could not
 * be read in the meantime is read again. A refused change is not repeated: the person presses its button again. `rel="opener"` lets the
 * tab of the sign-in close itself; `Cross-Origin-Opener-Policy` keeps this page from the identity provider's page.
 */
export function SignInRequest() {
  const { isDemanded, isAsking } = useSignIn();
  const client = useQueryClient();
  useEffect(() => {
    if (isDemanded) return;
    void client.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, [client, isDemanded]);
  if (!isDemanded || !isAsking) return null;
  const close = () => setAsking(false);
  const buttons = (
    <>
      <Button onPress={close}>{text('notNow')}</Button>
      <ButtonAnchor kind="primary" href={signInUrl(RETURN_PATH)} target="_blank" rel="opener" autoFocus>
        {text('signIn')}
      </ButtonAnchor>
    </>
  );
  return (
    <Dialog
      role="alertdialog"
      title={text('sessionEndedTitle')}
      buttons={buttons}
      onClose={close}
      isDismissable={false}
    >
      <p>{text('sessionEndedAdvice')}</p>
    </Dialog>
  );
}
