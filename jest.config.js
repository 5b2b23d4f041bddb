/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/{services,packages,verification}/**/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/\\.data/'],
  modulePathIgnorePatterns: ['<rootDir>/\\.data/', '<rootDir>/packages/sdk/dist/'],
  testEnvironment: '<rootDir>/verification/test-kit/bin/plain-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'esnext' } }],
  },
  // Functions come from '@jest/globals', by import.
  injectGlobals: false,
  // Longer than everything in a test that waits, so that the wait that failed is named. Only a failing test takes this long.
  testTimeout: 180_000,
  maxWorkers: 2,
  // A worker keeps the modules of every file that it ran. Above this heap it is replaced before its next file, so that the whole run
  // fits into 4 GB.
  workerIdleMemoryLimit: '300MB',
  testSequencer: '<rootDir>/verification/test-kit/bin/quick-first.mjs',
  globalSetup: '<rootDir>/verification/running-system/bin/start-servers.mjs',
  globalTeardown: '<rootDir>/verification/running-system/bin/stop-servers.mjs',
  reporters: ['default', '<rootDir>/verification/test-kit/bin/count-reporter.mjs'],
};
