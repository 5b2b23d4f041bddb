import type { ReactNode } from 'react';
import { useRelease } from '../api/approvals.ts';
import { leaveSignedOut, useSession, useSignOut } from '../api/session.ts';
import { signInUrl } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import style from './account.module.css';
import { Button } from './button.tsx';
import { ChangeNotice } from './change-notice.tsx';
import { ErrorNotice } from './notice.tsx';

/** The signed-in person with the button to sign out, or the link to sign in. */
export function Account() {
  const signOut = useSignOut();
  const leave = () => signOut.mutate(undefined, { onSuccess: leaveSignedOut });
  return (
    <AccountArea
      isShort
      button={
        <Button kind="quiet" isBusy={signOut.isPending || signOut.isSuccess} onPress={leave}>
          {text('signOut')}
        </Button>
      }
      failure={
        signOut.failure === null ? null : (
          <ChangeNotice
            failure={signOut.failure}
            undone={text('signOutUndone')}
            unknown={text('signOutUnknown')}
            advice={text('signOutAdvice')}
          />
        )
      }
    />
  );
}

/**
 * The signed-in person with a button, or the link to sign in. It keeps its place while that is being found out. `failure` says why the
 * button's action failed.
 */
function AccountArea({
  button,
  failure,
  isShort = false,
}: {
  readonly button: ReactNode;
  readonly failure: ReactNode;
  /** Whether a phone shows the button only. */
  readonly isShort?: boolean;
}) {
  const session = useSession();
  if (session.data === undefined) return <div className={style['account']} />;
  if (session.data === null) {
    return (
      <div className={style['account']}>
        <a href={signInUrl()}>{text('signIn')}</a>
      </div>
    );
  }
  return (
    <>
      <div className={style['account']}>
        <span className={`${style['name']} ${isShort ? style['short'] : ''}`}>
          {session.data.name ?? session.data.userId}
        </span>
        {button}
      </div>
      {failure === null ? null : <div className={style['failure']}>{failure}</div>}
    </>
  );
}

/**
 * The signed-in person on the approval screen, with the button to open the request with another account. The request is given back
 * first, because it belongs to the account that opened it.
 */
export function SwitchAccount({ approvalId }: { readonly approvalId: string }) {
  const change = useRelease(approvalId, () =>
    location.assign(`${signInUrl(`/approve/${approvalId}`)}&switch=1`),
  );
  return (
    <AccountArea
      button={
        <Button kind="quiet" isBusy={change.isPending || change.isSuccess} onPress={() => change.mutate()}>
          {text('switchAccount')}
        </Button>
      }
      failure={
        change.error === null ? null : <ErrorNotice error={change.error} title={text('notSwitched')} />
      }
    />
  );
}
