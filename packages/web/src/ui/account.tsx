import { leaveSignedOut, useSession, useSignOut } from '../api/session.ts';
import { signInUrl } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import style from './account.module.css';
import { Button } from './button.tsx';
import { ChangeNotice } from './change-notice.tsx';

/**
 * The signed-in person with the button to sign out, or the link to sign in. It keeps its place while that is being found out. A phone
 * shows the button only.
 */
export function Account() {
  const session = useSession();
  const signOut = useSignOut();
  if (session.data === undefined) return <div className={style['account']} />;
  if (session.data === null) {
    return (
      <div className={style['account']}>
        <a href={signInUrl()}>{text('signIn')}</a>
      </div>
    );
  }
  const leave = () => signOut.mutate(undefined, { onSuccess: leaveSignedOut });
  const isBusy = signOut.isPending || signOut.isSuccess;
  return (
    <>
      <div className={style['account']}>
        <span className={`${style['name']} ${style['short']}`}>
          {session.data.name ?? session.data.userId}
        </span>
        <Button kind="quiet" isBusy={isBusy} onPress={leave}>
          {text('signOut')}
        </Button>
      </div>
      {signOut.failure === null ? null : (
        <div className={style['failure']}>
          <ChangeNotice
            failure={signOut.failure}
            undone={text('signOutUndone')}
            unknown={text('signOutUnknown')}
            advice={text('signOutAdvice')}
          />
        </div>
      )}
    </>
  );
}
