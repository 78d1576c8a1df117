import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import tseslint from 'typescript-eslint';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const forbiddenEverywhere = [
  { selector: "NewExpression[callee.name='Function']", message: 'Code is never made from text.' },
  { selector: "CallExpression[callee.name='eval']", message: 'Code is never made from text.' },
  { selector: 'ExportDefaultDeclaration', message: 'Give what is exported a name.' },
];

/** The one lint configuration. Types come from one program of the whole repository, which is built once. */
export default tseslint.config(
  { ignores: ['**/dist/**', '**/test-results/**', '**/node_modules/**', '**/.turbo/**', '**/.local/**'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: ['tsconfig.json'], tsconfigRootDir: root } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      'no-console': 'error',
      eqeqeq: 'error',
      'no-restricted-syntax': ['error', ...forbiddenEverywhere],
    },
  },
  {
    files: ['**/src/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "ThrowStatement > NewExpression[callee.name='Error']",
          message: 'Throw an error with a stable code, not a bare Error.',
        },
        ...forbiddenEverywhere,
      ],
    },
  },
  {
    files: ['**/src/**/*.ts'],
    // The matrix defines tests, for the test files of several services.
    ignores: ['**/*.test.ts', '**/local-stack/src/**/visibility-matrix.ts'],
    rules: {
      // The types of the test runner are there in every file, the test runner is not.
      'no-restricted-globals': [
        'error',
        ...['describe', 'it', 'test', 'expect', 'jest', 'beforeAll', 'beforeEach', 'afterAll', 'afterEach'],
      ],
    },
  },
  {
    files: ['**/*.test.ts', '**/test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
