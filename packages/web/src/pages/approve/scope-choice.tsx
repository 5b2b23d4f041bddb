import type { RequestedScope } from '../../api/resources.ts';
import { Stack, Tag } from '../../ui/card.tsx';
import { Checkbox, CheckboxGroup } from '../../ui/field.tsx';
import { groupByCategory } from '../../ui/scopes.ts';
import style from './approval-form.module.css';

/** Checkboxes for the requested scopes, under the catalog's headings. */
export function ScopeChoice({
  scopes,
  chosen,
  onChange,
}: {
  readonly scopes: readonly RequestedScope[];
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (scope: string, isChosen: boolean) => void;
}) {
  return (
    <Stack>
      {groupByCategory(scopes).map(({ category, items }) => (
        <CheckboxGroup key={category} title={category}>
          {items.map((item) => (
            <div key={item.scope} className={style['scope']}>
              <Checkbox
                isSelected={chosen.has(item.scope)}
                onChange={(isSelected) => onChange(item.scope, isSelected)}
              >
                <span className={style['title']}>
                  {item.title}
                  {item.sensitive ? <Tag tone="warn">sensitive</Tag> : null}
                  {item.alreadyShared ? <Tag tone="good">shared already</Tag> : null}
                </span>
                <span className={style['description']}>
                  {item.description}
                  {item.alreadyShared ? ' Take the tick away to stop sharing it.' : ''}
                </span>
              </Checkbox>
              <a
                className={style['look']}
                href={`/data?scope=${encodeURIComponent(item.scope)}`}
                target="_blank"
                rel="noopener"
              >
                Look at my data<span className={style['hidden']}> of {item.title} (opens beside)</span>
              </a>
            </div>
          ))}
        </CheckboxGroup>
      ))}
    </Stack>
  );
}
