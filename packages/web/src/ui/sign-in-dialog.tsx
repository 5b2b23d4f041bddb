import { setAsking, signInUrl, useSignIn } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import { Button, ButtonAnchor } from './button.tsx';
import { DialogContent, DialogWindow } from './dialog.tsx';

/** The page that a sign-in in a new tab returns to. */
const RETURN_PATH = '/signed-in';

/**
 * The dialog that asks the person to sign in. It closes when they have done so in any tab. `rel="opener"` lets the tab of the sign-in
 * close itself; `Cross-Origin-Opener-Policy` keeps this page from the identity provider's page.
 */
export function SignInDialog() {
  const { isDemanded, isAsking } = useSignIn();
  const isOpen = isAsking && isDemanded;
  return (
    <DialogWindow isOpen={isOpen} onOpenChange={setAsking}>
      {isDemanded ? (
        <DialogContent
          role="alertdialog"
          title={text('sessionEndedTitle')}
          buttons={
            <>
              <Button slot="close">{text('notNow')}</Button>
              <ButtonAnchor
                kind="primary"
                href={signInUrl(RETURN_PATH)}
                target="_blank"
                rel="opener"
                autoFocus
              >
                {text('signIn')}
              </ButtonAnchor>
            </>
          }
        >
          <p>{text('sessionEndedAdvice')}</p>
        </DialogContent>
      ) : null}
    </DialogWindow>
  );
}
