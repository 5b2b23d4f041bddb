import { SCOPE_NAMES, SCOPES } from '@phds/catalog/scopes';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Failure } from '../../api/change.ts';
import type { AppSettings } from '../../api/developer-apps.ts';
import { violationOf } from '../../api/problem.ts';
import type { ApplicationType, DeveloperApp } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Row, Soft, Stack, Tag } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Checkbox, CheckboxGroup, TextField } from '../../ui/field.tsx';
import { groupByCategory, scopeTitle } from '../../ui/scopes.ts';
import { toggled } from '../../ui/toggled.ts';
import style from './app-form.module.css';
import { text } from './texts.ts';

interface Draft {
  readonly name: string;
  readonly redirectUris: string;
  readonly description: string;
  readonly developerName: string;
  readonly homepageUrl: string;
  readonly privacyPolicyUrl: string;
  readonly requirePkce: boolean;
  readonly scopes: ReadonlySet<string>;
}

const NOTHING: Partial<Draft> = {};

/**
 * The settings of an app. Input is kept when it is refused, and each error is shown at its field. Untouched fields show the app's
 * current values.
 */
export function AppForm({
  app,
  type = app?.applicationType ?? 'server',
  submit,
  onSubmit,
  isPending,
  isSaved = false,
  failure,
  doubt,
  children,
}: {
  /** Fields before those of the settings. */
  readonly children?: ReactNode;
  /** Absent when registering a new app. */
  readonly app?: DeveloperApp;
  /** Of a new app. */
  readonly type?: ApplicationType;
  readonly submit: string;
  /** Receives all settings; `onSaved` is called once the app has them. */
  readonly onSubmit: (settings: AppSettings, onSaved: () => void) => void;
  readonly isPending: boolean;
  readonly isSaved?: boolean;
  /** Result of the last submit. */
  readonly failure: Failure | null;
  /** The message when it is unknown whether the settings were saved, and the advice. */
  readonly doubt: { readonly unknown: string; readonly advice: string };
}) {
  const [edits, setEdits] = useState<Partial<Draft>>(NOTHING);
  const [isScopeMissing, setScopeMissing] = useState(false);
  const draft = { ...toDraft(app), ...edits };
  const set = (part: Partial<Draft>) => setEdits({ ...edits, ...part });
  const field = (name: Exclude<keyof Draft, 'requirePkce' | 'scopes'>) => ({
    value: draft[name],
    onChange: (value: string) => set({ [name]: value }),
    error: violationOf(failure?.error, name),
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    setScopeMissing(draft.scopes.size === 0);
    if (draft.scopes.size === 0) return;
    onSubmit(toSettings(draft), () => setEdits((present) => (present === edits ? NOTHING : present)));
  };
  return (
    <form onSubmit={send}>
      <Card label={text('app')}>
        {children}
        <TextField label={text('name')} isRequired {...field('name')} hint={text('nameHint')} />
        <TextField
          label={text('redirectUris')}
          isRequired
          multiline
          {...field('redirectUris')}
          hint={text('redirectUrisHint')}
        />
        <TextField
          label={text('developerName')}
          {...field('developerName')}
          hint={text('developerNameHint')}
        />
        <TextField label={text('description')} {...field('description')} />
        <TextField label={text('homepage')} type="url" {...field('homepageUrl')} />
        <TextField label={text('privacyPolicy')} type="url" {...field('privacyPolicyUrl')} />
        {type === 'public' ? null : (
          <Checkbox isSelected={draft.requirePkce} onChange={(requirePkce) => set({ requirePkce })}>
            {text('requirePkce')}
          </Checkbox>
        )}
        <ScopeBoxes isNew={app === undefined} chosen={draft.scopes} onChange={(scopes) => set({ scopes })} />
        <ScopeError
          error={
            isScopeMissing && draft.scopes.size === 0
              ? text('scopesMissing')
              : violationOf(failure?.error, 'scopes')
          }
        />
        <ChangeNotice failure={failure} undone={text('notSaved')} {...doubt} />
        <Row>
          <Button kind="primary" type="submit" isBusy={isPending}>
            {submit}
          </Button>
          <span role="status">{isSaved && edits === NOTHING ? text('saved') : ''}</span>
        </Row>
      </Card>
    </form>
  );
}

function ScopeBoxes({
  isNew,
  chosen,
  onChange,
}: {
  readonly isNew: boolean;
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}) {
  return (
    <details className={style['scopes']} open={isNew}>
      <summary>{text('scopesOfApp', { chosen: chosen.size, all: SCOPES.length })}</summary>
      <Stack>
        <Soft>{text('scopesAdvice')}</Soft>
        {groupByCategory(SCOPES).map(({ category, items }) => (
          <CheckboxGroup key={category} title={category}>
            {items.map(({ scope, sensitive }) => (
              <Checkbox
                key={scope}
                isSelected={chosen.has(scope)}
                onChange={(isSelected) => onChange(toggled(chosen, scope, isSelected))}
              >
                {scopeTitle(scope)} <code className={style['scope']}>{scope}</code>{' '}
                {sensitive ? <Tag tone="warn">{text('veryPersonal')}</Tag> : null}
              </Checkbox>
            ))}
          </CheckboxGroup>
        ))}
      </Stack>
    </details>
  );
}

/** Beside the button that was pressed, because the boxes fill more than a screen. */
function ScopeError({ error }: { readonly error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p className={style['error']} role="alert">
      {error}
    </p>
  );
}

function toDraft(app: DeveloperApp | undefined): Draft {
  return {
    name: app?.name ?? '',
    redirectUris: (app?.redirectUris ?? []).join('\n'),
    description: app?.description ?? '',
    developerName: app?.developerName ?? '',
    homepageUrl: app?.homepageUrl ?? '',
    privacyPolicyUrl: app?.privacyPolicyUrl ?? '',
    requirePkce: app?.requirePkce ?? true,
    scopes: new Set(app?.scopes ?? []),
  };
}

/** The settings of an app in the form's representation. */
export function settingsOf(app: DeveloperApp): AppSettings {
  return toSettings(toDraft(app));
}

const toList = (lines: string) => lines.split(/\s+/).filter((line) => line !== '');

function toSettings({ redirectUris, scopes, ...draft }: Draft): AppSettings {
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim());
  return {
    name: draft.name.trim(),
    redirectUris: toList(redirectUris),
    description: orNull(draft.description),
    developerName: orNull(draft.developerName),
    homepageUrl: orNull(draft.homepageUrl),
    privacyPolicyUrl: orNull(draft.privacyPolicyUrl),
    requirePkce: draft.requirePkce,
    scopes: SCOPE_NAMES.filter((scope) => scopes.has(scope)),
  };
}
