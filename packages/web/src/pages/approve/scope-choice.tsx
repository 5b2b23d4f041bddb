import { useId, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components';
import type { RequestedScope } from '../../api/resources.ts';
import { Card, Soft, Tag } from '../../ui/card.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { formatList } from '../../ui/formats.ts';
import { Chevron } from '../../ui/rows.tsx';
import { scopeDescription, scopeTitle } from '../../ui/scopes.ts';
import { PreviewSheet } from './preview-sheet.tsx';
import style from './scope-choice.module.css';
import { type ScopeGroup, toScopeGroups } from './scope-groups.ts';
import { text } from './texts.ts';

/** Above this number of scopes, groups start collapsed. */
const MAX_OPEN_SCOPES = 6;

interface Choice {
  readonly chosen: readonly string[];
  /** The first day that the app would see; null for everything, and while it is not known. */
  readonly firstDay: string | null;
  readonly onChange: (scope: string, isChosen: boolean) => void;
}

/** Checkboxes for the requested scopes, in groups. */
export function ScopeChoice({ scopes, ...choice }: Choice & { readonly scopes: readonly RequestedScope[] }) {
  const isLong = scopes.length > MAX_OPEN_SCOPES;
  return (
    <Card label={text('what')}>
      <div className={style['lead']}>
        <h2>{text('youChoose')}</h2>
        <Soft>{selectionText(scopes, choice.chosen)}</Soft>
      </div>
      <div className={style['groups']}>
        {toScopeGroups(scopes).map((group) =>
          isLong ? (
            <Foldable key={group.id} group={group} {...choice} />
          ) : (
            <fieldset key={group.id} className={group.isPersonal ? style['personal'] : undefined}>
              <legend>{group.title}</legend>
              {group.note === null ? null : <Soft>{group.note}</Soft>}
              <Rows items={group.items} {...choice} />
            </fieldset>
          ),
        )}
      </div>
    </Card>
  );
}

/** How much is selected; until the person changes it, how much is asked for, and why this is selected. */
function selectionText(scopes: readonly RequestedScope[], chosen: readonly string[]): string {
  const isUntouched = scopes.every(({ scope, alreadyShared }) => alreadyShared === chosen.includes(scope));
  if (!isUntouched) return text('selectedOf', { count: chosen.length, all: scopes.length });
  const state = text(chosen.length === 0 ? 'nothingSelected' : 'sharedIsSelected');
  const personal = scopes.filter(({ sensitive }) => sensitive).length;
  return `${text('requested', { count: scopes.length, personal })} ${state}`;
}

/** A group that starts collapsed, so that the decision is few stops of the keyboard away. */
function Foldable({ group, ...choice }: Choice & { readonly group: ScopeGroup }) {
  const { title, note, items } = group;
  const [isOpen, setOpen] = useState(false);
  const panel = useId();
  const count = items.filter(({ scope }) => choice.chosen.includes(scope)).length;
  const names = formatList(items.map(({ scope }) => scopeTitle(scope)));
  return (
    <div className={group.isPersonal ? style['personal'] : undefined}>
      <h3>
        <AriaButton
          className={style['fold'] ?? ''}
          aria-expanded={isOpen}
          aria-controls={panel}
          onPress={() => setOpen(!isOpen)}
        >
          <Chevron />
          <span className={style['name']}>{title}</span>
          <span className={style['count']}>{text('countOf', { count, all: items.length })}</span>
        </AriaButton>
      </h3>
      <p className={style['names']}>{isOpen ? note : [names, note].filter(Boolean).join('. ')}</p>
      <fieldset id={panel} aria-label={title} hidden={!isOpen}>
        <Rows items={items} {...choice} />
      </fieldset>
    </div>
  );
}

function Rows({ items, chosen, firstDay, onChange }: Choice & { readonly items: readonly RequestedScope[] }) {
  return items.map((item, index) => {
    const title = scopeTitle(item.scope);
    const description = scopeDescription(item.scope);
    // The two summaries have one.
    const isRepeated = scopeDescription(items[index - 1]?.scope ?? '') === description;
    return (
      <div key={item.scope} className={style['row']}>
        <Checkbox
          isSelected={chosen.includes(item.scope)}
          onChange={(isSelected) => onChange(item.scope, isSelected)}
        >
          <span className={style['title']}>
            {title}
            {item.alreadyShared ? <Tag tone="good">{text('alreadyShared')}</Tag> : null}
          </span>
          <span className={style['description']}>
            {isRepeated ? null : description}{' '}
            {item.alreadyShared && chosen.includes(item.scope) ? text('untick') : null}
          </span>
        </Checkbox>
        <PreviewSheet scope={item.scope} title={title} firstDay={firstDay} />
      </div>
    );
  });
}
