import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { signInUrl, useSignIn } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import { lazyPart } from './lazy-part.ts';
import { Notice } from './notice.tsx';

/** Later than a page has loaded: the script of the dialogs must not delay it. */
const PRELOAD_MS = 5_000;

const loadDialog = async () => (await import('./sign-in-dialog.tsx')).SignInDialog;

const SignInDialog = lazyPart(loadDialog, SignInNotice);

async function loadDialogs(): Promise<void> {
  await Promise.allSettled([loadDialog(), import('./confirmation-dialog.tsx')]);
}

/**
 * Asks the person to sign in when the service demands it, without leaving the page. When they have done so in any tab, what could not
 * be read in the meantime is read again. A refused change is not repeated: the person presses its button again.
 */
export function SignInRequest() {
  const { isDemanded } = useSignIn();
  const [isNeeded, setNeeded] = useState(false);
  const client = useQueryClient();
  useEffect(() => {
    if (isDemanded) return;
    void client.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, [client, isDemanded]);
  useEffect(() => {
    const timer = setTimeout(loadDialogs, PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  if (isDemanded && !isNeeded) setNeeded(true);
  if (!isNeeded) return null;
  return (
    <Suspense fallback={null}>
      <SignInDialog />
    </Suspense>
  );
}

/** In place of the dialog. */
function SignInNotice() {
  const { isDemanded } = useSignIn();
  if (!isDemanded) return null;
  return (
    <div role="alert">
      <Notice tone="warn">
        <strong>{text('pleaseSignIn')}</strong>
        <a href={signInUrl('/signed-in')} target="_blank" rel="noopener opener">
          {text('signIn')}
        </a>
      </Notice>
    </div>
  );
}
