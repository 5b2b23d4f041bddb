import type { Language } from '@phds/catalog/languages';
import { type PropsWithChildren, type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { readDeployment } from '../api/deployment.ts';
import icon from '../icon.svg';
import { text } from '../texts/frame.ts';
import { chooseLanguage, currentLanguage, isOfConsole, LANGUAGE_NAMES } from '../texts/language.ts';
import { Account, SwitchAccount } from './account.tsx';
import { Button } from './button.tsx';
import { Tag } from './card.tsx';
import style from './layout.module.css';
import { SignInRequest } from './sign-in-request.tsx';
import { productName, useTitle } from './title.ts';

const PLACES = [
  { path: '/apps', long: 'apps', short: 'appsShort' },
  { path: '/history', long: 'history', short: 'historyShort' },
  { path: '/data', long: 'data', short: 'dataShort' },
] as const;

/** The path of the approval screen, before the id. */
const APPROVAL = '/approve/';

/**
 * The frame of every page: the product, navigation, the signed-in person, the page, and the choice of language. The console has a
 * navigation of its own and no choice of language. The approval screen has no navigation, so that nothing leads away from the decision.
 */
export function Shell({ children }: { readonly children: ReactNode }) {
  const main = useFocusOnArrival();
  const [path] = useLocation();
  const approvalId = path.startsWith(APPROVAL) ? path.slice(APPROVAL.length) : null;
  const isConsole = isOfConsole(path);
  const { operator, ...addresses } = readDeployment();
  return (
    <div className={style['shell']}>
      <a className={style['skip']} href="#main">
        {text('skip')}
      </a>
      <header className={style['header']}>
        <div className={style['bar']}>
          <Link href={isConsole ? '/console' : '/'} className={style['brand']}>
            <img src={icon} alt="" />
            <span>{productName()}</span>
          </Link>
          {isConsole ? (
            <span className={style['wide']}>
              <Tag>{text('developers')}</Tag>
            </span>
          ) : null}
          {approvalId === null ? (
            <>
              <nav className={style['nav']} aria-label={text('pages')}>
                {isConsole ? <ConsolePlaces /> : <Places />}
              </nav>
              <Account />
            </>
          ) : (
            <SwitchAccount approvalId={approvalId} />
          )}
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1} className={style['main']}>
        {children}
      </main>
      <footer className={style['footer']}>
        <DeploymentLinks {...addresses} />
        {isConsole ? <a href="/">{text('product')}</a> : null}
        {isConsole || approvalId !== null ? null : <a href="/console">{text('developers')}</a>}
        {operator === undefined ? null : <span>{text('operatedBy', { operator })}</span>}
        {isConsole ? null : <LanguageChoice />}
      </footer>
      <SignInRequest />
    </div>
  );
}

/** The privacy notice and the help of the deployment. They open beside the page, which may hold a decision. */
function DeploymentLinks({ privacyUrl, supportUrl }: ReturnType<typeof readDeployment>) {
  const links = [
    [privacyUrl, 'privacy'],
    [supportUrl, 'help'],
  ] as const;
  return links.map(([url, name]) =>
    url === undefined ? null : (
      <a key={name} href={url} target="_blank" rel="noopener noreferrer">
        {text(name)}
      </a>
    ),
  );
}

/** A button for each language, in the words of that language. */
function LanguageChoice() {
  return (
    <fieldset aria-label={text('language')} className={style['languages']}>
      {Object.entries(LANGUAGE_NAMES).map(([language, name]) => (
        <Button
          key={language}
          kind="quiet"
          lang={language}
          aria-pressed={language === currentLanguage()}
          onPress={() => chooseLanguage(language as Language)}
        >
          {name}
        </Button>
      ))}
    </fieldset>
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

function Places() {
  const [location] = useLocation();
  // The start page is the list of apps.
  const shown = location === '/' ? PLACES[0].path : location;
  return PLACES.map(({ path, long, short }) => (
    <Link key={path} href={path} aria-current={`${shown}/`.startsWith(`${path}/`) ? 'page' : undefined}>
      <span className={style['wide']}>{text(long)}</span>
      <span className={style['small']}>{text(short)}</span>
    </Link>
  ));
}

function ConsolePlaces() {
  return (
    <>
      <Link href="/console" aria-current="page">
        {text('appsShort')}
      </Link>
      <a href="/docs">{text('documentation')}</a>
    </>
  );
}

/** A page's heading, also used as its browser title. */
export function PageHeading({
  title,
  page,
  lead,
  actions,
}: {
  readonly title: string;
  /** Which of several pages with this heading it is. */
  readonly page?: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
}) {
  useTitle(page === undefined ? title : `${page} · ${title}`);
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

/** The way to the page that this one belongs to. */
export function BackLink({ to, children }: PropsWithChildren<{ readonly to: string }>) {
  return (
    <Link href={to} className={style['back']}>
      ‹ {children}
    </Link>
  );
}

/** A narrow column for reading and deciding. */
export function Narrow({ children }: { readonly children: ReactNode }) {
  return <div className={style['narrow']}>{children}</div>;
}
