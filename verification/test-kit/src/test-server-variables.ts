// Apart from the code that starts the servers: every test file reads these, and the libraries of that code take half a second to load.

/** Set by the test run: a base URL that starts a shared server at its first request, and returns how to reach it. */
export const TEST_SERVERS_VARIABLE = 'PHDS_TEST_SERVERS';
/** The program of Redis for createTestRedis; empty where there is none. Nothing is installed. */
export const REDIS_VARIABLE = 'PHDS_TEST_REDIS';

const known = new Map<string, Promise<unknown>>();

/** How to reach a server that all test files of this run share, which starts at the first request. */
export function askForServer<T>(name: string): Promise<T> {
  const answer = known.get(name) ?? ask(name);
  known.set(name, answer);
  return answer as Promise<T>;
}

async function ask(name: string): Promise<unknown> {
  const base = process.env[TEST_SERVERS_VARIABLE];
  if (!base) throw new Error(`no ${name}: run the tests with jest and the jest.config.js of the workspace`);
  const response = await fetch(`${base}/${name}`);
  if (!response.ok) throw new Error(`${name} did not start: ${await response.text()}`);
  return response.json();
}
