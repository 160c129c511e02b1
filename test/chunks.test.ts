import { expect, test } from 'vitest'
import { chunksOf, type Module } from '../build/chunks.ts'

function graph(modules: Readonly<Record<string, Partial<Module>>>): Map<string, Module> {
  return new Map(
    Object.entries(modules).map(([id, module]) => [id, { size: 100, imports: [], dynamic: [], ...module }]),
  )
}

/** Nobody reads as much in vain for a file less to open. */
const large = 500_000

test('what the first group reaches is in its file, whoever else needs it', () => {
  const modules = graph({
    main: { imports: ['flags'], dynamic: ['open'] },
    flags: {},
    open: { imports: ['flags', 'http'] },
    http: {},
  })
  const chunks = chunksOf(modules, { start: ['main'], cluster: ['open'] })
  expect(Object.fromEntries(chunks)).toEqual({
    main: 'start',
    flags: 'start',
    open: 'cluster',
    http: 'cluster',
  })
})

test('what the first group has is in no other file, and what one dynamic import needs is left to it', () => {
  const modules = graph({
    main: { imports: ['flags'], dynamic: ['status', 'plan'] },
    flags: {},
    status: { imports: ['flags', 'facts', 'table'], size: large },
    plan: { imports: ['flags', 'facts'], size: large },
    facts: { imports: ['flags'] },
    table: {},
  })
  const chunks = chunksOf(modules, { start: ['main'] })
  expect(chunks.get('flags')).toBe('start')
  expect([...chunks.keys()].toSorted()).toEqual(['facts', 'flags', 'main'])
})

test('what is small lies in one file with what most need besides it', () => {
  const modules = graph({
    main: { dynamic: ['status', 'plan', 'check'] },
    status: { imports: ['facts', 'rows'] },
    plan: { imports: ['facts', 'rows'] },
    check: { imports: ['facts'] },
    facts: {},
    rows: {},
  })
  const chunks = chunksOf(modules, { start: ['main'] })
  expect(chunks.get('facts')).toBeDefined()
  expect(chunks.get('rows')).toBe(chunks.get('facts'))
})

test('a large library that one of them needs is no burden of the other', () => {
  const modules = graph({
    main: { dynamic: ['status', 'plan', 'demo'] },
    status: { imports: ['facts'] },
    plan: { imports: ['facts', 'library'] },
    demo: { imports: ['library'] },
    facts: {},
    library: { size: large },
  })
  const chunks = chunksOf(modules, { start: ['main'] })
  expect(chunks.get('facts')).not.toBe(chunks.get('library'))
})

test('the two that save most are put together first, and the burden of a third is judged by what they have become', () => {
  const modules = graph({
    main: { dynamic: ['status', 'plan', 'check', 'demo'] },
    status: { imports: ['rows', 'facts', 'library'], size: large },
    plan: { imports: ['rows', 'facts', 'library'], size: large },
    check: { imports: ['facts', 'rows'], size: large },
    demo: { imports: ['rows'], size: large },
    library: { size: 40_000 },
    facts: { size: 10_000 },
    rows: { size: 10_000 },
  })
  const chunks = chunksOf(modules, { start: ['main'] })
  expect(chunks.get('rows')).toBe(chunks.get('facts'))
  expect(chunks.get('library')).not.toBe(chunks.get('facts'))
})

test('no two files import each other, however the modules do', () => {
  const random = randomOf(7)
  for (let run = 0; run < 200; run++) {
    const modules = anyGraph(random)
    const chunks = chunksOf(modules, { start: ['main'] })
    expect(roundIn(modules, (id) => chunks.get(id) ?? id)).toBeUndefined()
  }
})

/** Numbers from 0 to below 1, the same ones each time. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

/** Twelve modules that import later ones, and eight that are imported when they are needed. */
function anyGraph(random: () => number): Map<string, Module> {
  const ids = Array.from({ length: 20 }, (_, index) => `m${index}`)
  const later = (index: number) => ids.slice(Math.max(index + 1, 8)).filter(() => random() < 0.3)
  return graph({
    main: { dynamic: ids.slice(0, 8) },
    ...Object.fromEntries(
      ids.map((id, index) => [id, { imports: later(index), size: random() < 0.5 ? 100 : 40_000 }]),
    ),
  })
}

function roundIn(modules: ReadonlyMap<string, Module>, fileOf: (id: string) => string): string | undefined {
  const imported = (file: string) =>
    [...modules].flatMap(([id, { imports }]) => (fileOf(id) === file ? imports.map(fileOf) : []))
  for (const file of new Set([...modules.keys()].map(fileOf))) {
    const left = imported(file).filter((other) => other !== file)
    const observed = new Set<string>()
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (next === file) return file
      if (observed.has(next)) continue
      observed.add(next)
      left.push(...imported(next).filter((other) => other !== next))
    }
  }
  return undefined
}
