import { type ReactNode, useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { signInUrl, useSession } from '../api/session.ts';
import icon from '../icon.svg';
import style from './layout.module.css';

const PLACES = [
  { path: '/apps', text: 'Connected apps' },
  { path: '/history', text: 'Access history' },
  { path: '/data', text: 'My data' },
  { path: '/console', text: 'Developers' },
] as const;

/** What stands around every page: where one is, where one can go, who one is. */
export function Shell({ children }: { readonly children: ReactNode }) {
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
      <main id="main" tabIndex={-1} className={style['main']}>
        {children}
      </main>
    </div>
  );
}

function Navigation() {
  const [location] = useLocation();
  return (
    <nav className={style['nav']} aria-label="Pages">
      {PLACES.map(({ path, text }) => {
        const isHere = location === path || location.startsWith(`${path}/`);
        return (
          <Link key={path} href={path} {...(isHere ? { 'aria-current': 'page' as const } : {})}>
            {text}
          </Link>
        );
      })}
    </nav>
  );
}

function Account() {
  const session = useSession();
  if (session.data === undefined) return null;
  return (
    <div className={style['account']}>
      {session.data === null ? (
        <a href={signInUrl()}>Sign in</a>
      ) : (
        <>
          <span>{session.data.userId}</span>
          <a href={signInUrl()}>Switch</a>
        </>
      )}
    </div>
  );
}

/** A page's heading, and its title in the browser. */
export function PageHeading({
  title,
  lead,
  actions,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Your health data`;
  }, [title]);
  return (
    <div className={style['heading']}>
      <div>
        <h1>{title}</h1>
        {lead === undefined ? null : <p className={style['lead']}>{lead}</p>}
      </div>
      {actions}
    </div>
  );
}

/** A column for reading and deciding. */
export function Narrow({ children }: { readonly children: ReactNode }) {
  return <div className={style['narrow']}>{children}</div>;
}
