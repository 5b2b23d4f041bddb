import type { IssuedTokens } from './authorization-tables.ts';
import type { Approved } from './ledger.ts';
import type { AccessFacts } from './trace.ts';

/** An access token that an app holds. */
export type HeldToken = Omit<AccessFacts, 'scope'>;

/** What came from one exchange of a code. */
export interface HeldFamily {
  readonly family: string;
  readonly app: string;
  readonly code: string;
  /** Refresh tokens, oldest first. */
  readonly refreshTokens: string[];
}

/** What people were given and remember, oldest first; nothing is thrown away when it ends. */
export class Wallet {
  readonly grants: Approved[] = [];
  readonly tokens: HeldToken[] = [];
  readonly families: HeldFamily[] = [];

  /** Keeps an answer of the token endpoint; the same answer again changes nothing. */
  keep(code: string, { access, refresh }: IssuedTokens): void {
    const { lineage, user, app, grant, epoch } = access.family;
    const { token, expiresAt } = access;
    if (this.tokens.some((held) => held.token === token)) return;
    this.tokens.push({ token, family: lineage, grant, user, app, epoch, expiresAt });
    const known = this.families.find(({ family }) => family === lineage);
    if (known !== undefined) known.refreshTokens.push(refresh.token);
    else this.families.push({ family: lineage, app, code, refreshTokens: [refresh.token] });
  }
}
