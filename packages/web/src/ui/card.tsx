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

/** Fields side by side, all of a width. */
export function Fields({ children }: { readonly children: ReactNode }) {
  return <div className={style['fields']}>{children}</div>;
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

/** An app's title, beside its first letter: its logo would be a request to somebody else's server. */
export function Titled({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  const [initial = '?'] = name.trim();
  return (
    <div className={style['titled']}>
      <span className={style['monogram']} aria-hidden="true">
        {initial.toUpperCase()}
      </span>
      <div>{children}</div>
    </div>
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
