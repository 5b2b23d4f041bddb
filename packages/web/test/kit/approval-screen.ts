import { SCOPES, type Scope } from '@phds/catalog/scopes';
import { type Answers, example } from './answers.ts';
import { openPage, type Page, type PageOptions, screen, textOf, within } from './page.ts';
import { after, afterDays } from './times.ts';

const { data: recorded } = example('getPendingApproval');

export type Approval = typeof recorded;
export type Connection = NonNullable<Approval['connection']>;

/** A connection with the app on these terms, which was made before the request. */
export function connectionOf(
  scopes: readonly Scope[],
  { days = 90, dataFrom = null }: { readonly days?: number; readonly dataFrom?: string | null } = {},
): Connection {
  return { grantId: 'grt_1', appName: 'Morning Run', scopes, expiresAt: afterDays(days), dataFrom };
}

/** A request of Morning Run for these scopes, which waits for nine more minutes. */
export function approvalOf(scopes: readonly Scope[], members: Partial<Approval> = {}): Approval {
  const { connection = null } = members;
  const requestedScopes = SCOPES.filter(({ scope }) => scopes.includes(scope)).map((entry) => ({
    ...{ scope: entry.scope, title: entry.title, description: entry.description },
    ...{
      sensitive: entry.sensitive,
      alreadyShared: connection?.scopes.includes(entry.scope) ?? false,
    },
  }));
  const times = { createdAt: after(-1), expiresAt: after(9) };
  return {
    ...recorded,
    ...times,
    requestedScopes,
    revision: connection === null ? 'none' : 'r1',
    ...members,
  };
}

/** The approval screen in English, by the roles and names that a screen reader announces. */
export class ApprovalScreen {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** The button that shares, also while nothing is chosen. */
  get share(): HTMLElement {
    return screen.getByRole('button', {
      name: /^(Share( \d+ types? of data)?|Agree( to these changes)?|One moment…)$/,
    });
  }

  /** What an approval would allow. */
  get summary(): HTMLElement {
    return within(screen.getByRole('region', { name: /^(In short|What changes)$/ })).getByRole('status');
  }

  /** What would change for an existing connection, one text for each change. */
  get changes(): string[] {
    return within(this.summary).queryAllByRole('listitem').map(textOf);
  }

  get firstDay(): HTMLInputElement {
    return screen.getByLabelText('First day that the app can see');
  }

  /** The chosen scopes. */
  get chosen(): string[] {
    return screen
      .getAllByRole<HTMLInputElement>('checkbox')
      .filter(({ checked }) => checked)
      .map(({ labels }) => textOf(labels?.[0]?.querySelector('.title') ?? document.body));
  }

  /** The chosen end and look-back. */
  get limits(): string[] {
    return screen
      .getAllByRole<HTMLInputElement>('radio')
      .filter(({ checked }) => checked)
      .map(({ labels }) => textOf(labels?.[0] ?? document.body));
  }

  /** Presses scopes, ends and look-backs by their texts. */
  async choose(...texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      const label = [...document.querySelectorAll('label')].find((each) => textOf(each).startsWith(text));
      if (label === undefined) throw new Error(`There is no choice ${text}.`);
      await this.page.press(label);
    }
  }

  /** Chooses this first day (YYYY-MM-DD). */
  async chooseFirstDay(day: string): Promise<void> {
    await this.choose('Choose a date');
    await this.page.fill('First day that the app can see', day);
  }
}

/** Opens the approval screen of a request. */
export async function openApproval(
  approval: Approval,
  { answers, ...options }: PageOptions = {},
): Promise<{ page: Page; approvals: ApprovalScreen } & AsyncDisposable> {
  const all: Answers = { getPendingApproval: { data: approval }, ...answers };
  const page = await openPage(`/approve/${approval.id}`, { ...options, answers: all });
  return {
    page,
    approvals: new ApprovalScreen(page),
    [Symbol.asyncDispose]: () => page[Symbol.asyncDispose](),
  };
}
