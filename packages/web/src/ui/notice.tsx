import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { faultText, type Labels, Problem, problemText } from '../api/problem.ts';
import { isNoSession, setAsking, signInUrl, useSignIn } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import { isOfConsole } from '../texts/language.ts';
import { Button, ButtonAnchor, ButtonLink } from './button.tsx';
import { Row } from './card.tsx';
import style from './notice.module.css';
import { useTitle } from './title.ts';

/** An important message. With a role, screen readers announce it when it appears. */
export function Notice({
  tone = 'plain',
  title,
  role,
  children,
}: {
  readonly tone?: 'plain' | 'warn' | 'bad';
  readonly title?: ReactNode;
  readonly role?: 'alert' | 'status';
  readonly children?: ReactNode;
}) {
  return (
    <div role={role} className={tone === 'plain' ? style['notice'] : `${style['notice']} ${style[tone]}`}>
      {title === undefined ? null : <strong>{title}</strong>}
      {children}
    </div>
  );
}

/** Explains an error by its cause; announced by screen readers. */
export function ErrorNotice({
  error,
  title,
  labels = {},
}: {
  readonly error: unknown;
  readonly title: string | undefined;
  readonly labels?: Labels | undefined;
}) {
  return (
    <Notice tone="bad" role="alert" title={title}>
      {isNoSession(error) ? <SignInAgain /> : <Cause error={error} labels={labels} />}
    </Notice>
  );
}

const NO_PROBLEM = new Problem('', 0, '');

function Cause({ error, labels }: { readonly error: unknown; readonly labels: Labels }) {
  const { violations, status, requestId } = error instanceof Problem ? error : NO_PROBLEM;
  if (violations.length === 0) {
    return (
      <>
        <span>{problemText(error)}</span>
        {status >= 500 && requestId !== undefined ? (
          <span>{text('tellOperator', { request: requestId })}</span>
        ) : null}
      </>
    );
  }
  return (
    <ul>
      {violations.map((violation, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: one parameter may have several faults, which never move.
        <li key={index}>
          {labels[violation.parameter.replace(/\[.*/, '')] ?? violation.parameter}{' '}
          {faultText(violation.message)}
        </li>
      ))}
    </ul>
  );
}

/** What to do about a request that was refused until the person signs in, and what after they have. */
function SignInAgain() {
  const { isDemanded } = useSignIn();
  if (!isDemanded) return <span>{text('signedInAgain')}</span>;
  return (
    <>
      <span>{text('sessionEnded')}</span>
      <Row>
        <Button onPress={() => setAsking(true)}>{text('signInAgain')}</Button>
      </Row>
    </>
  );
}

/** Explains an empty section, and what to do about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={style['empty']}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The same for a whole page. */
export function EmptyPage({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  useTitle(title);
  return (
    <div className={style['empty']}>
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </div>
  );
}

/** For an address that is no page of the app. */
export function NoSuchPage() {
  const [path] = useLocation();
  return (
    <EmptyPage title={text('noSuchPage')}>
      <p>{text('noSuchPageAdvice')}</p>
      <ButtonLink to={isOfConsole(path) ? '/console' : '/'}>{text('toStart')}</ButtonLink>
    </EmptyPage>
  );
}

export function Loading() {
  return (
    <p className={style['loading']} role="status" data-loading>
      {text('loading')}
    </p>
  );
}

/** Shown to signed-out people instead of a page. */
export function SignedOut({ why }: { readonly why: string }) {
  const { person } = useSignIn();
  return (
    <EmptyPage title={text('pleaseSignIn')}>
      <p>{why}</p>
      {typeof person === 'string' ? (
        <Button kind="primary" onPress={() => setAsking(true)}>
          {text('signIn')}
        </Button>
      ) : (
        <ButtonAnchor kind="primary" href={signInUrl()}>
          {text('signIn')}
        </ButtonAnchor>
      )}
    </EmptyPage>
  );
}
