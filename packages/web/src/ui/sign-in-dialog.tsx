import { type Demand, setAsking, signInUrl, useSignIn } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import { Button, ButtonAnchor } from './button.tsx';
import { DialogContent, DialogWindow } from './dialog.tsx';

const TEXTS = {
  'sign-in': { title: 'sessionEndedTitle', advice: 'sessionEndedAdvice' },
  confirmation: { title: 'confirmationTitle', advice: 'confirmationAdvice' },
} as const satisfies Record<Demand, unknown>;

/** The page that a sign-in in a new tab returns to. */
const RETURN_PATH = '/signed-in';

/** The dialog that asks the person to sign in. It closes when they have done so in any tab. */
export function SignInDialog() {
  const { demand, isAsking } = useSignIn();
  const isOpen = isAsking && demand !== null;
  return (
    <DialogWindow isOpen={isOpen} onOpenChange={setAsking}>
      {demand === null ? null : (
        <DialogContent
          role="alertdialog"
          title={text(TEXTS[demand].title)}
          buttons={
            <>
              <Button slot="close">{text('notNow')}</Button>
              <ButtonAnchor kind="primary" href={toUrl(demand)} target="_blank" rel="opener" autoFocus>
                {text('signIn')}
              </ButtonAnchor>
            </>
          }
        >
          <p>{text(TEXTS[demand].advice)}</p>
        </DialogContent>
      )}
    </DialogWindow>
  );
}

/** `rel="opener"` lets the tab close itself. `Cross-Origin-Opener-Policy` keeps this page from the identity provider's page. */
function toUrl(demand: Demand): string {
  const url = signInUrl(RETURN_PATH);
  return demand === 'confirmation' ? `${url}&step_up=1` : url;
}
