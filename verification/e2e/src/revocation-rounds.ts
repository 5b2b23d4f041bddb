import { expectStatus } from '@phds/running-system/partner-app';
import type { Answer } from '@phds/running-system/request';
import {
  connect,
  type Held,
  type PersonWithApp,
  type RevocationWay,
  rotateSecret,
} from '@phds/running-system/revocation-ways';

/** The same data through both interfaces. */
const HEART_PATHS = ['/api/v1/health-data/heart', '/fhir/R4/Observation?category=vital-signs'] as const;
const PROFILE_PATH = '/api/v1/profile';
const USERLESS = { grant_type: 'client_credentials' } as const;

interface RoundsOptions {
  readonly gateways: readonly string[];
  /** Their rounds run in parallel; the rounds of one person run one after the other. */
  readonly people: readonly PersonWithApp[];
  readonly rounds: number;
}

/** The results of the first requests after each revocation, one for each round and gateway. */
export interface Outcome {
  refused: number;
  /** Descriptions of wrong responses, up to a limit. */
  readonly wrong: string[];
}

/** In each round: connects, reads at every gateway, revokes, and reads at every gateway again, in turns through both interfaces. */
export function endAndRead(way: RevocationWay, options: RoundsOptions): Promise<Outcome> {
  return playRounds(options, async (person, gateway, outcome, round) => {
    const { gateways } = options;
    const held = await connect(person);
    await Promise.all(gateways.map((each) => warm(person, held, each)));

    await way.end(person, held, gateway);

    const read = (pathAt: (index: number) => string) =>
      Promise.all(gateways.map((each, i) => person.app.at(each).read(held.accessToken, pathAt(i))));
    const [status, code] = way.leaves === 'nothing' ? [401, 'UNAUTHORIZED'] : [403, 'CONSENT_REQUIRED'];
    for (const answer of await read((index) => heartPath(index + round))) {
      count(outcome, answer, answer.status === status && codeOf(answer) === code && !hasData(answer));
    }
    const other = way.leaves === 'nothing' ? 401 : 200;
    for (const answer of await read(() => PROFILE_PATH)) if (answer.status !== other) note(outcome, answer);
    await way.restore?.(person, held);
  });
}

/** In each round: rotates the app's secret and authenticates with the old one at every gateway. */
export function rotateAndAuthenticate(options: RoundsOptions): Promise<Outcome> {
  return playRounds(options, async (person, gateway, outcome) => {
    const { app } = person;
    const { gateways } = options;
    const authenticate = () =>
      Promise.all(gateways.map((each) => app.at(each).post('/oauth/token', USERLESS)));
    for (const answer of await authenticate()) expectStatus(200, answer);

    const next = await rotateSecret(person, gateway);

    for (const answer of await authenticate()) {
      count(outcome, answer, answer.status === 401 && answer.body?.error === 'invalid_client');
    }
    app.clientSecret = next;
    for (const answer of await authenticate()) if (answer.status !== 200) note(outcome, answer);
  });
}

async function playRounds(
  { gateways, people, rounds }: RoundsOptions,
  play: (person: PersonWithApp, gateway: string, outcome: Outcome, round: number) => Promise<void>,
): Promise<Outcome> {
  const outcome: Outcome = { refused: 0, wrong: [] };
  let round = 0;
  await Promise.all(
    people.map(async (person) => {
      while (round < rounds) {
        // The gateways carry the revocations in turn.
        const current = round++;
        await play(person, gateways[current % gateways.length] as string, outcome, current);
      }
    }),
  );
  return outcome;
}

function heartPath(turn: number): string {
  return HEART_PATHS[turn % HEART_PATHS.length] as string;
}

/** Our code of a refusal: of a problem, or in an OperationOutcome. */
function codeOf({ body }: Answer): string | undefined {
  return body?.code ?? body?.issue?.[0]?.details?.coding?.[0]?.code;
}

function hasData({ body }: Answer): boolean {
  return body?.data !== undefined || body?.entry !== undefined;
}

/** Makes the gateway cache the token. */
async function warm({ app }: PersonWithApp, { accessToken }: Held, gateway: string): Promise<void> {
  for (const path of HEART_PATHS) {
    const answer = expectStatus(200, await app.at(gateway).read(accessToken, path));
    if (!hasData(answer) || answer.body.data?.length === 0) throw new Error('there is nothing to keep back');
  }
}

function count(outcome: Outcome, answer: Answer, right: boolean): void {
  if (right) outcome.refused += 1;
  else note(outcome, answer);
}

function note(outcome: Outcome, { status, text }: Answer): void {
  if (outcome.wrong.length < 20) outcome.wrong.push(`${status} ${text.slice(0, 200)}`);
}
