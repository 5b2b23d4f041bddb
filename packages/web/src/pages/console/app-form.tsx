import { APP_PROFILE, PROFILE_FIELDS, type Profile, toProfile } from '@phds/catalog/app-profile';
import { SCOPE_NAMES, SCOPES } from '@phds/catalog/scopes';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { AppSettings } from '../../api/developer-apps.ts';
import { violationOf } from '../../api/problem.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Grid, Row, Soft, Stack, Tag } from '../../ui/card.tsx';
import { Checkbox, CheckboxGroup, GroupError, TextField } from '../../ui/field.tsx';
import { focusInvalidField } from '../../ui/focus.ts';
import { groupByCategory, scopeTitle } from '../../ui/scopes.ts';
import { toggled } from '../../ui/toggled.ts';
import { NotChanged } from './not-changed.tsx';
import { text } from './texts.ts';

interface Draft extends Profile {
  readonly redirectUris: string;
  readonly requirePkce: boolean;
  readonly scopes: ReadonlySet<string>;
}

const NOTHING: Partial<Draft> = {};

/** The labels of the fields that an error of the service can name. */
const LABELS = {
  ...toProfile(text),
  redirectUris: text('redirectUris'),
  requirePkce: text('requirePkce'),
  scopes: text('scopes'),
  applicationType: text('applicationType'),
};

type TextName = Exclude<keyof Draft, 'requirePkce' | 'scopes'>;

/** What a draft lacks, by field. */
function findMissing(draft: Draft): Partial<Record<keyof Draft, string>> {
  return {
    ...(draft.name.trim() === '' ? { name: text('nameMissing') } : {}),
    ...(draft.redirectUris.trim() === '' ? { redirectUris: text('redirectUrisMissing') } : {}),
    ...(draft.scopes.size === 0 ? { scopes: text('scopesMissing') } : {}),
  };
}

/**
 * The settings of an app; of a new one, those that it needs first. Input is kept when it is refused, each error is shown at its field,
 * and the first one has the focus. Untouched fields show the app's current values.
 */
export function AppForm({
  app,
  submit,
  onSubmit,
  isPending,
  isSaved = false,
  error,
  children,
}: {
  /** Fields after the name. */
  readonly children?: ReactNode;
  /** Absent when registering a new app. */
  readonly app?: DeveloperApp;
  readonly submit: string;
  /** Receives all settings and the edited ones, as others may change elsewhere; `onSaved` is called once the app has them. */
  readonly onSubmit: (settings: AppSettings, edited: Partial<AppSettings>, onSaved: () => void) => void;
  readonly isPending: boolean;
  readonly isSaved?: boolean;
  readonly error: unknown;
}) {
  const [edits, setEdits] = useState<Partial<Draft>>(NOTHING);
  const [isSubmitted, setSubmitted] = useState(false);
  const draft = { ...toDraft(app), ...edits };
  const missing = findMissing(draft);
  const set = (part: Partial<Draft>) => setEdits({ ...edits, ...part });
  const errorOf = (name: keyof Draft) =>
    (isSubmitted ? missing[name] : undefined) ?? violationOf(error, name);
  const field = (name: TextName) => ({
    label: LABELS[name],
    value: draft[name],
    onChange: (value: string) => set({ [name]: value }),
    error: errorOf(name),
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (Object.keys(missing).length > 0) return focusInvalidField();
    const settings = toSettings(draft);
    const names = Object.keys(edits) as (keyof Draft)[];
    const edited = Object.fromEntries(names.map((name) => [name, settings[name]]));
    onSubmit(settings, edited, () => setEdits((present) => (present === edits ? NOTHING : present)));
  };
  return (
    <form onSubmit={send}>
      <Card label={text('app')}>
        <Grid>
          <TextField isRequired {...field('name')} hint={text('nameHint')} />
          {children}
          <TextField isRequired multiline {...field('redirectUris')} hint={text('redirectUrisHint')} />
          <TextField {...field('developerName')} hint={text('developerNameHint')} />
          <TextField type="url" {...field('privacyPolicyUrl')} />
          {app === undefined ? null : <LaterFields app={app} field={field} draft={draft} onChange={set} />}
        </Grid>
        <ScopeBoxes chosen={draft.scopes} onChange={(scopes) => set({ scopes })} error={errorOf('scopes')} />
        <NotChanged
          error={error}
          unknown={app === undefined ? 'registrationUnknown' : 'changeUnknown'}
          labels={LABELS}
        />
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

const LATER_TEXTS = PROFILE_FIELDS.filter(
  (name) => !['name', 'developerName', 'privacyPolicyUrl'].includes(name),
);

/** What an app can do without at first. */
function LaterFields({
  app,
  field,
  draft,
  onChange,
}: {
  readonly app: DeveloperApp;
  readonly field: (name: TextName) => Parameters<typeof TextField>[0];
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
}) {
  return (
    <>
      {LATER_TEXTS.map((name) => (
        <TextField key={name} type={APP_PROFILE[name].kind === 'url' ? 'url' : 'text'} {...field(name)} />
      ))}
      {app.applicationType === 'public' ? null : (
        <Checkbox isSelected={draft.requirePkce} onChange={(requirePkce) => onChange({ requirePkce })}>
          {text('requirePkce')}
        </Checkbox>
      )}
    </>
  );
}

/** Folded, until they have an error. */
function ScopeBoxes({
  chosen,
  onChange,
  error,
}: {
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
  readonly error: string | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      open={isOpen || error !== undefined}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <strong>{text('scopesOfApp', { chosen: chosen.size, all: SCOPES.length })}</strong>
      </summary>
      <Stack>
        {error === undefined ? null : <GroupError>{error}</GroupError>}
        <Soft>{text('scopesAdvice')}</Soft>
        {groupByCategory(SCOPES).map(({ category, items }) => (
          <CheckboxGroup key={category} title={category}>
            {items.map(({ scope, sensitive }) => (
              <Checkbox
                key={scope}
                isSelected={chosen.has(scope)}
                isInvalid={error !== undefined}
                onChange={(isSelected) => onChange(toggled(chosen, scope, isSelected))}
              >
                {scopeTitle(scope)}{' '}
                <small>
                  <code>{scope}</code>
                </small>{' '}
                {sensitive ? <Tag tone="warn">{text('veryPersonal')}</Tag> : null}
              </Checkbox>
            ))}
          </CheckboxGroup>
        ))}
      </Stack>
    </details>
  );
}

function toDraft(app: DeveloperApp | undefined): Draft {
  return {
    ...toProfile((field) => app?.[field] ?? ''),
    redirectUris: (app?.redirectUris ?? []).join('\n'),
    requirePkce: app?.requirePkce ?? true,
    scopes: new Set(app?.scopes ?? []),
  };
}

const toList = (lines: string) => lines.split(/\s+/).filter((line) => line !== '');

function toSettings({ redirectUris, scopes, ...draft }: Draft): AppSettings {
  return {
    // The service takes an empty text as none.
    ...toProfile((field) => draft[field].trim()),
    redirectUris: toList(redirectUris),
    requirePkce: draft.requirePkce,
    scopes: SCOPE_NAMES.filter((scope) => scopes.has(scope)),
  };
}
