import type { ReactNode } from 'react';
import style from './card.module.css';

/** A framed piece of a page. */
export function Card({ children, label }: { readonly children: ReactNode; readonly label?: string }) {
  const content = <div className={style['stack']}>{children}</div>;
  if (label === undefined) return <div className={style['card']}>{content}</div>;
  return (
    <section className={style['card']} aria-label={label}>
      {content}
    </section>
  );
}

/** Things one below the other. */
export function Stack({
  children,
  tight = false,
}: {
  readonly children: ReactNode;
  readonly tight?: boolean;
}) {
  return <div className={tight ? `${style['stack']} ${style['tight']}` : style['stack']}>{children}</div>;
}

/** Things side by side, wrapping. */
export function Row({
  children,
  between = false,
}: {
  readonly children: ReactNode;
  readonly between?: boolean;
}) {
  return <div className={between ? `${style['row']} ${style['between']}` : style['row']}>{children}</div>;
}

/** Cards side by side, as many as fit. */
export function Grid({ children }: { readonly children: ReactNode }) {
  return <div className={style['grid']}>{children}</div>;
}

/** Less important text. */
export function Soft({ children }: { readonly children: ReactNode }) {
  return <p className={style['soft']}>{children}</p>;
}

export type Tone = 'neutral' | 'good' | 'warn' | 'bad';

/** A short mark beside a title. */
export function Tag({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span className={tone === 'neutral' ? style['tag'] : `${style['tag']} ${style[tone]}`}>{children}</span>
  );
}

/** Stands for an app's logo, which would be a request to somebody else's server. */
export function Monogram({ name }: { readonly name: string }) {
  return (
    <span className={style['monogram']} aria-hidden="true">
      {(name.trim()[0] ?? '?').toUpperCase()}
    </span>
  );
}

/** Names and what they are; an absent value is left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
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
  );
}
