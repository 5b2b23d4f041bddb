import type { ReactNode } from 'react';
import { useRelease } from '../api/approvals.ts';
import { leaveSignedOut, useSession, useSignOut } from '../api/session.ts';
import { signInUrl } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import style from './account.module.css';
import { Button, ButtonAnchor } from './button.tsx';
import { ChangeNotice } from './change-notice.tsx';
import { ErrorNotice } from './notice.tsx';

/** The signed-in person with the button to sign out, or the link to sign in. */
export function Account() {
  const signOut = useSignOut();
  return (
    <AccountArea
      isShort
      label={text('signOut')}
      isBusy={signOut.isPending || signOut.isSuccess}
      onPress={() => signOut.mutate(undefined, { onSuccess: leaveSignedOut })}
    >
      {signOut.failure === null ? null : (
        <ChangeNotice
          failure={signOut.failure}
          undone={text('signOutUndone')}
          unknown={text('signOutUnknown')}
        />
      )}
    </AccountArea>
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
      label={text('switchAccount')}
      isBusy={change.isPending || change.isSuccess}
      onPress={() => change.mutate()}
    >
      {change.error === null ? null : <ErrorNotice error={change.error} title={text('notSwitched')} />}
    </AccountArea>
  );
}

/** The signed-in person with a button, or the link to sign in. It keeps its place while that is being found out. */
function AccountArea({
  isShort = false,
  label,
  isBusy,
  onPress,
  children,
}: {
  /** Whether a phone shows the button only. */
  readonly isShort?: boolean;
  readonly label: string;
  readonly isBusy: boolean;
  readonly onPress: () => void;
  /** Why what the button does has failed; null if it has not. */
  readonly children: ReactNode;
}) {
  const { data: session } = useSession();
  if (session === undefined) return <div className={style['account']} />;
  if (session === null) {
    return (
      <div className={style['account']}>
        <ButtonAnchor kind="quiet" href={signInUrl()}>
          {text('signIn')}
        </ButtonAnchor>
      </div>
    );
  }
  return (
    <>
      <div className={style['account']}>
        <span className={`${style['name']} ${isShort ? style['short'] : ''}`}>
          {session.name ?? session.userId}
        </span>
        <Button kind="quiet" isBusy={isBusy} onPress={onPress}>
          {label}
        </Button>
      </div>
      {children === null ? null : <div className={style['failure']}>{children}</div>}
    </>
  );
}
