import type { PropsWithChildren } from 'react';
import { Link } from 'wouter';
import style from './rows.module.css';

/** Rows (`<li>`) in one frame; marked ones need a look. */
export function Rows({ children, isMarked = false }: PropsWithChildren<{ readonly isMarked?: boolean }>) {
  return <ul className={isMarked ? `${style['rows']} ${style['marked']}` : style['rows']}>{children}</ul>;
}

/** What a row says, which takes the room that the rest of the row leaves. */
export function RowWords({ children }: PropsWithChildren) {
  return <div className={style['words']}>{children}</div>;
}

interface RowLinkProps {
  readonly to: string;
  readonly describedBy: string;
}

/** The link of a row: the whole row can be pressed. */
export function RowLink({ to, describedBy, children }: PropsWithChildren<RowLinkProps>) {
  return (
    <Link href={to} className={style['link']} aria-describedby={describedBy}>
      {children}
    </Link>
  );
}

/** Shows that a row leads on. */
export function Chevron() {
  return <span className={style['chevron']} aria-hidden="true" />;
}
