import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { type Demand, setAsking, signInUrl, useSignIn } from '../api/sign-in.ts';
import { Button, ButtonAnchor } from './button.tsx';
import style from './dialog.module.css';

const TEXTS: Readonly<Record<Demand, { readonly title: string; readonly text: string }>> = {
  'sign-in': {
    title: 'Your session has ended',
    text: 'Sign in again in a new tab, then go on here. This page stays as it is, with everything you chose or wrote.',
  },
  confirmation: {
    title: 'Please confirm that it is you',
    text: 'For this step, sign in once more in a new tab, then try again here. This page stays as it is, with everything you chose or wrote.',
  },
};

/** The page that a sign-in in a new tab returns to. */
const RETURN_PATH = '/signed-in';

/**
 * Asks the person to sign in when the service demands it, without leaving the page. It closes when they have done so in any tab, and
 * what could not be read in the meantime is read again. A refused change is not repeated: the person presses its button again.
 */
export function SignInDialog() {
  const { demand, isAsking } = useSignIn();
  const client = useQueryClient();
  useEffect(() => {
    if (demand !== null) return;
    void client.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, [client, demand]);
  const isOpen = isAsking && demand !== null;
  return (
    <ModalOverlay className={style['overlay'] ?? ''} isOpen={isOpen} onOpenChange={setAsking}>
      <Modal className={style['dialog'] ?? ''}>
        {demand === null ? null : (
          <Dialog role="alertdialog" style={{ outline: 'none' }}>
            <div className={style['body']}>
              <Heading slot="title" level={2}>
                {TEXTS[demand].title}
              </Heading>
              <p>{TEXTS[demand].text}</p>
              <div className={style['buttons']}>
                <Button slot="close">Not now</Button>
                <ButtonAnchor kind="primary" href={toUrl(demand)} target="_blank" rel="opener" autoFocus>
                  Sign in
                </ButtonAnchor>
              </div>
            </div>
          </Dialog>
        )}
      </Modal>
    </ModalOverlay>
  );
}

/** `rel="opener"` lets the tab close itself. `Cross-Origin-Opener-Policy` keeps this page from the identity provider's page. */
function toUrl(demand: Demand): string {
  const url = signInUrl(RETURN_PATH);
  return demand === 'confirmation' ? `${url}&step_up=1` : url;
}
