import type { RefAttributes } from 'react';
import { Button as AriaButton, Link as AriaLink, type ButtonProps } from 'react-aria-components';
import { Link } from 'wouter';
import style from './button.module.css';

export type ButtonKind = 'plain' | 'primary' | 'danger' | 'quiet';

/** A styled button. While `isBusy` it does nothing but keeps the focus, which `isDisabled` would lose. */
export function Button({
  kind = 'plain',
  isBusy = false,
  ...rest
}: Omit<ButtonProps, 'isPending'> &
  RefAttributes<HTMLButtonElement> & { readonly kind?: ButtonKind; readonly isBusy?: boolean }) {
  const busy = { type: 'button', onPress: () => undefined, 'aria-disabled': true } as const;
  return <AriaButton {...rest} {...(isBusy ? busy : {})} className={classOf(kind)} />;
}

/** An internal link styled as a button. */
export function ButtonLink({
  to,
  kind = 'plain',
  label,
  children,
}: {
  readonly to: string;
  /** What a screen reader says instead of the text. */
  readonly label?: string;
  readonly kind?: ButtonKind;
  readonly children: React.ReactNode;
}) {
  return (
    <Link href={to} className={classOf(kind)} aria-label={label}>
      {children}
    </Link>
  );
}

/** An external link, or a download with the given file name, styled as a button. */
export function ButtonAnchor({
  href,
  kind = 'plain',
  children,
  ...rest
}: {
  readonly href: string;
  readonly download?: string;
  readonly target?: '_blank';
  readonly rel?: string;
  readonly referrerPolicy?: 'same-origin';
  readonly autoFocus?: boolean;
  readonly kind?: ButtonKind;
  readonly children: React.ReactNode;
}) {
  return (
    <AriaLink {...rest} href={href} className={classOf(kind)}>
      {children}
    </AriaLink>
  );
}

function classOf(kind: ButtonKind): string {
  return kind === 'plain' ? (style['button'] ?? '') : `${style['button']} ${style[kind]}`;
}
