import { expect, test } from 'vitest'
import { type Declaration, declaredAs, isParallelSafe } from '../../src/scheduler/declaration.ts'

const isOwnService = (args: { service?: string }) => args.service === 'nginx'

test.each<[string, Declaration | undefined, boolean]>([
  ['an unknown tool', undefined, false],
  ['nothing declared', {}, false],
  ['a read that declares nothing', { effect: 'read' }, false],
  ['parallelSafe', { parallelSafe: true }, true],
  ['parallelSafe: false', { parallelSafe: false }, false],
  ['serial', { serial: true }, false],
  ['serial beside parallelSafe', { serial: true, parallelSafe: true }, false],
  ['serial beside a predicate that holds', { serial: true, parallelSafe: () => true }, false],
  ['serial: false beside parallelSafe', { serial: false, parallelSafe: true }, true],
  ['a predicate that holds for the arguments', { parallelSafe: isOwnService }, true],
  ['a predicate that does not hold', { parallelSafe: () => false }, false],
  [
    'a predicate that throws',
    {
      parallelSafe: () => {
        throw new Error('no')
      },
    },
    false,
  ],
])('a call of %s is parallel-safe or not', (_name, declaration, isSafe) => {
  expect(isParallelSafe(declaration, { service: 'nginx' })).toBe(isSafe)
})

test('a predicate is asked for each call', () => {
  expect(isParallelSafe({ parallelSafe: isOwnService }, { service: 'redis' })).toBe(false)
})

test('a predicate that answers with something truthy has not said yes', () => {
  const declaration = { parallelSafe: async () => false } as unknown as Declaration
  expect(isParallelSafe(declaration, {})).toBe(false)
})

test.each<[Declaration, string]>([
  [{ serial: true, because: 'it turns the page' }, 'serial'],
  [{ serial: true, parallelSafe: true }, 'serial'],
  [{ parallelSafe: true }, 'parallelSafe'],
  [{ parallelSafe: () => true }, 'conditional'],
  [{}, 'undeclared'],
  [{ parallelSafe: false }, 'undeclared'],
  [{ effect: 'read' }, 'undeclared'],
])('%o is declared as %s', (declaration, declared) => {
  expect(declaredAs(declaration)).toBe(declared)
})
