/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/{services,packages,verification}/**/test/**/*.test.{ts,tsx}'],
  testPathIgnorePatterns: ['/node_modules/', '/\\.data/'],
  modulePathIgnorePatterns: ['<rootDir>/\\.data/', '<rootDir>/packages/sdk/dist/'],
  runner: '<rootDir>/verification/test-kit/bin/plain-runner.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {},
  // Longer than everything in a test that waits, so that the wait that failed is named. Only a failing test takes this long.
  testTimeout: 180_000,
  maxWorkers: 2,
  globalSetup: '<rootDir>/verification/running-system/bin/start-servers.mjs',
  globalTeardown: '<rootDir>/verification/running-system/bin/stop-servers.mjs',
  reporters: ['<rootDir>/verification/test-kit/bin/reporter.mjs'],
};
