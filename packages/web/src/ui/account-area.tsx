import type { ReactNode } from 'react';
import { useSession } from '../api/session.ts';
import { signInUrl } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import style from './account.module.css';

/**
 * The signed-in person with a button, or the link to sign in. It keeps its place while that is being found out. `failure` says why the
 * button's action failed.
 */
export function AccountArea({
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
