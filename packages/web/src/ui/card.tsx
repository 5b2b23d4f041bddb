import type { PropsWithChildren, ReactNode } from 'react';
import style from './card.module.css';

/** A framed section of a page. */
export function Card({ children, label }: PropsWithChildren<{ readonly label?: string }>) {
  const content = <div className={style['stack']}>{children}</div>;
  if (label === undefined) return <div className={style['card']}>{content}</div>;
  return (
    <section className={style['card']} aria-label={label}>
      {content}
    </section>
  );
}

/** A vertical stack. */
export function Stack({ children, tight = false }: PropsWithChildren<{ readonly tight?: boolean }>) {
  return <div className={tight ? `${style['stack']} ${style['tight']}` : style['stack']}>{children}</div>;
}

/** A wrapping horizontal row. */
export function Row({ children, between = false }: PropsWithChildren<{ readonly between?: boolean }>) {
  return <div className={between ? `${style['row']} ${style['between']}` : style['row']}>{children}</div>;
}

/** Fields side by side with equal width. */
export function Fields({ children }: PropsWithChildren) {
  return <div className={style['fields']}>{children}</div>;
}

/** As many cards side by side as fit. */
export function Grid({ children }: PropsWithChildren) {
  return <div className={style['grid']}>{children}</div>;
}

/** Secondary text. */
export function Soft({ children }: PropsWithChildren) {
  return <p className={style['soft']}>{children}</p>;
}

export type Tone = 'neutral' | 'good' | 'warn' | 'bad';

/** A short label beside a title. */
export function Tag({ tone = 'neutral', children }: PropsWithChildren<{ readonly tone?: Tone }>) {
  return (
    <span className={tone === 'neutral' ? style['tag'] : `${style['tag']} ${style[tone]}`}>{children}</span>
  );
}

/** The first letter of an app's name. A logo would be a request to a foreign server. */
export function Monogram({ name }: { readonly name: string }) {
  const [initial = '?'] = name.trim();
  return (
    <span className={style['monogram']} aria-hidden="true">
      {initial.toUpperCase()}
    </span>
  );
}

/** Names with their values; absent values are omitted. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <div className={style['frame']}>
      <dl className={style['facts']}>
        {facts
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </div>
  );
}
