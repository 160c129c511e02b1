import { JSONPath } from 'jsonpath-plus'

import { JsonPathError, type Operand, type Operator, type Path, type PathStep } from './path.ts'

/** What a path finds from one value, in kubectl's order. A missing key finds nothing; an index out of bounds throws JsonPathError. */
export function walk(value: unknown, path: Path): unknown[] {
  return path.reduce<unknown[]>((values, step) => takeStep(values, step), [value])
}

type Steps = { [K in PathStep['is']]: (values: unknown[], step: Extract<PathStep, { is: K }>) => unknown[] }

/** A backquote makes jsonpath-plus take the name literally: no `^`, `~` or `@` of its own dialect. */
const steps: Steps = {
  field: (values, { name }) => values.flatMap((value) => (Array.isArray(value) ? [] : field(value, name))),
  wildcard: (values) => values.flatMap((value) => query(value, ['*'])),
  recursive: (values) => values.flatMap((value) => query(value, ['..']).filter(isParent)),
  slice: (values, { from, to, step }) =>
    values.flatMap((value) => query(value, [`${from ?? ''}:${to ?? ''}:${step ?? ''}`])),
  index: (values, { at }) => values.flatMap((value) => element(value, at)),
  union: (values, { of }) => of.flatMap((path) => values.flatMap((value) => walk(value, path))),
  exists: (values, { operand }) =>
    elements(values).filter((candidate) => resolve(candidate, operand).length > 0),
  filter: (values, { left, operator, right }) =>
    elements(values).filter((candidate) => {
      const [a] = resolve(candidate, left)
      const [b] = resolve(candidate, right)
      return a !== undefined && b !== undefined && compare(a, operator, b)
    }),
}

function takeStep<S extends PathStep>(values: unknown[], step: S): unknown[] {
  return (steps[step.is] as (values: unknown[], step: S) => unknown[])(values, step)
}

const awkward = /['"\][;#,~^@()]/

/** Names that jsonpath-plus would take apart are read directly. */
function field(value: unknown, name: string): unknown[] {
  if (!awkward.test(name)) return query(value, [`\`${name}`])
  return isParent(value) && Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : []
}

function query(value: unknown, path: readonly string[]): unknown[] {
  if (!isParent(value)) return []
  return JSONPath({ path: ['$', ...path], json: value, eval: false, wrap: true }) as unknown[]
}

function isParent(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function elements(values: readonly unknown[]): unknown[] {
  return values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []))
}

function element(value: unknown, at: number): unknown[] {
  if (!Array.isArray(value)) return []
  const index = at < 0 ? at + value.length : at
  if (index < 0 || index >= value.length) {
    throw new JsonPathError(`array index out of bounds: index ${at}, length ${value.length}`)
  }
  return [value[index]]
}

function resolve(value: unknown, operand: Operand): unknown[] {
  return operand.is === 'literal' ? [operand.value] : walk(value, operand.path)
}

const operators: Record<Operator, (a: never, b: never) => boolean> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

function compare(a: unknown, operator: Operator, b: unknown): boolean {
  if (typeof a !== typeof b) throw new JsonPathError('incompatible types for comparison')
  return operators[operator](a as never, b as never)
}
