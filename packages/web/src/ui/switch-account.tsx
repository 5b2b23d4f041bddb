import { useRelease } from '../api/approvals.ts';
import { useSession } from '../api/session.ts';
import { signInUrl } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import style from './account.module.css';
import { Button } from './button.tsx';
import { ErrorNotice } from './notice.tsx';

/**
 * The signed-in person on the approval screen, with the button to open the request with another account. The request is given back
 * first, because it belongs to the account that opened it.
 */
export function SwitchAccount({ approvalId }: { readonly approvalId: string }) {
  const session = useSession();
  const change = useRelease(approvalId, () =>
    location.assign(`${signInUrl(`/approve/${approvalId}`)}&switch=1`),
  );
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
        <span className={style['name']}>{session.data.name ?? session.data.userId}</span>
        <Button kind="quiet" isBusy={change.isPending || change.isSuccess} onPress={() => change.mutate()}>
          {text('switchAccount')}
        </Button>
      </div>
      {change.error === null ? null : (
        <div className={style['failure']}>
          <ErrorNotice error={change.error} title={text('notSwitched')} />
        </div>
      )}
    </>
  );
}
