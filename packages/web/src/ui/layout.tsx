import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { leaveSignedOut, useSession, useSignOut } from '../api/session.ts';
import { signInUrl } from '../api/sign-in.ts';
import icon from '../icon.svg';
import { Button } from './button.tsx';
import { ChangeNotice } from './change-notice.tsx';
import style from './layout.module.css';
import { SignInDialog } from './sign-in-dialog.tsx';
import { useTitle } from './title.ts';

const PLACES = [
  { path: '/apps', text: 'Connected apps', short: 'Apps' },
  { path: '/history', text: 'Access history', short: 'History' },
  { path: '/data', text: 'My data', short: 'My data' },
  { path: '/console', text: 'Developers', short: 'Developers' },
] as const;

/** The frame of every page: navigation, the current page, and the signed-in person. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const main = useFocusOnArrival();
  return (
    <div className={style['shell']}>
      <a className={style['skip']} href="#main">
        Skip to the content
      </a>
      <header className={style['header']}>
        <div className={style['bar']}>
          <Link href="/" className={style['brand']}>
            <img src={icon} alt="" />
            Your health data
          </Link>
          <Navigation />
          <Account />
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1} className={style['main']}>
        {children}
      </main>
      <SignInDialog />
    </div>
  );
}

/** Focuses the new page after navigation, as a page load would; the first page is left alone. */
function useFocusOnArrival() {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path]);
  return main;
}

function Navigation() {
  const [location] = useLocation();
  return (
    <nav className={style['nav']} aria-label="Pages">
      {PLACES.map(({ path, text, short }) => {
        const isHere = location === path || location.startsWith(`${path}/`);
        return (
          <Link key={path} href={path} {...(isHere ? { 'aria-current': 'page' as const } : {})}>
            <span className={style['wide']}>{text}</span>
            <span className={style['small']}>{short}</span>
          </Link>
        );
      })}
    </nav>
  );
}

function Account() {
  const session = useSession();
  const signOut = useSignOut();
  if (session.data === undefined) return null;
  if (session.data === null) {
    return (
      <div className={style['account']}>
        <a href={signInUrl()}>Sign in</a>
      </div>
    );
  }
  const leave = () => signOut.mutate(undefined, { onSuccess: leaveSignedOut });
  const isBusy = signOut.isPending || signOut.isSuccess;
  return (
    <>
      <div className={style['account']}>
        <span className={style['name']}>{session.data.userId}</span>
        <Button kind="quiet" isBusy={isBusy} onPress={leave}>
          Sign out
        </Button>
      </div>
      {signOut.failure === null ? null : (
        <div className={style['failure']}>
          <ChangeNotice
            failure={signOut.failure}
            undone="You are still signed in."
            unknown="We could not find out whether you are signed out."
            advice="Check your connection, then press “Sign out” again."
          />
        </div>
      )}
    </>
  );
}

/** A page's heading, also used as its browser title. */
export function PageHeading({
  title,
  lead,
  actions,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
}) {
  useTitle(title);
  return (
    <div className={style['heading']}>
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {lead === undefined ? null : <p className={style['lead']}>{lead}</p>}
      </div>
      {actions}
    </div>
  );
}

/** A narrow column for reading and deciding. */
export function Narrow({
  children,
  isCentred = false,
}: {
  readonly children: ReactNode;
  readonly isCentred?: boolean;
}) {
  const { narrow, centred } = style;
  return <div className={isCentred ? `${narrow} ${centred}` : narrow}>{children}</div>;
}
