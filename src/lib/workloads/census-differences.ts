import type { Census } from './census.ts'

/** Names, `namespace/name`. Empty lists are good news. */
export interface Differences {
  vanished: string[]
  failed: string[]
  restarted: string[]
  notReady: string[]
  restartRequired: string[]
  volumes: string[]
  /** VMIs whose migration began meanwhile and failed (night U1). */
  failedMigrations: string[]
}

/** What an upgrade must not have changed. Pure. */
export function compareCensus(before: Census, after: Census): Differences {
  const found: Differences = {
    vanished: [],
    failed: [],
    restarted: [],
    notReady: [],
    restartRequired: [],
    volumes: [],
    failedMigrations: [],
  }
  for (const name of before.instances.keys()) {
    const list = instanceDifference(before, after, name)
    if (list) found[list].push(name)
  }
  found.restartRequired.push(
    ...[...after.restartRequired].filter((name) => !before.restartRequired.has(name)),
  )
  found.volumes.push(...[...before.volumes.keys()].flatMap((name) => volumeDifference(before, after, name)))
  found.failedMigrations.push(...failedSince(before, after))
  return found
}

/** Migrations that began between the two, and how many of them failed (night U1). */
export function newMigrations(before: Census, after: Census): { began: number; failed: number } {
  const began = begunSince(before, after)
  return { began: began.length, failed: began.filter(({ phase }) => phase === 'Failed').length }
}

function failedSince(before: Census, after: Census): string[] {
  const failed = begunSince(before, after).filter(({ phase }) => phase === 'Failed')
  return [...new Set(failed.map(({ vmi }) => vmi))]
}

function begunSince(before: Census, after: Census): { vmi: string; phase: string }[] {
  return [...after.migrations].flatMap(([uid, migration]) => (before.migrations.has(uid) ? [] : [migration]))
}

function instanceDifference(before: Census, after: Census, name: string): keyof Differences | undefined {
  const was = before.instances.get(name)
  const is = after.instances.get(name)
  if (!is) return 'vanished'
  if (is.phase === 'Failed' && was?.phase !== 'Failed') return 'failed'
  if (is.uid !== was?.uid) return 'restarted'
  return was.ready && !is.ready ? 'notReady' : undefined
}

function volumeDifference(before: Census, after: Census, name: string): string[] {
  const was = before.volumes.get(name)
  const is = after.volumes.get(name)
  if (!is) return [`${name} vanished`]
  if (is.uid !== was?.uid) return [`${name} was created again`]
  return is.phase === was.phase
    ? []
    : [`${name}: ${was.phase || 'no phase'} before, ${is.phase || 'no phase'} now`]
}
