import type { Seal, SealedFact } from './seal.ts'

/** What a plan relies on, by the kind of its document: each of it is a fact of the seal, or among what could not be sealed. */
const reliedUpon: Readonly<Record<string, readonly string[]>> = {
  UpgradePlan: ['kubevirt', 'operator', 'crds', 'kubernetes', 'nodes'],
  EusPlan: ['platform', 'pools', 'subscription', 'hyperconverged'],
}

export interface SealedRisk {
  id: string
  reason?: string
  by?: string
}

/** A seal whose every part is of the type that is read later, and that leaves nothing out. Whoever can make one can put anything into it. */
export function isSeal(value: unknown, kind: string): value is Seal {
  if (!isRecord(value) || !hasTexts(value, ['uid', 'at', 'by', 'cluster', 'kvup', 'digest'])) return false
  const { facts, unsealed } = value
  if (!isListOf(facts, isFact) || !isListOf(unsealed, isUnsealed)) return false
  const ids = [...facts, ...unsealed].map(({ id }) => id)
  return new Set(ids).size === ids.length && (reliedUpon[kind] ?? []).every((id) => ids.includes(id))
}

export const areRisks = (value: unknown): value is readonly SealedRisk[] =>
  isListOf(
    value,
    (one): one is SealedRisk =>
      isRecord(one) && hasTexts(one, ['id']) && isTextOrNone(one['reason']) && isTextOrNone(one['by']),
  )

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isUnsealed = (value: unknown): value is { id: string; why: string } =>
  isRecord(value) && hasTexts(value, ['id', 'why'])

function isFact(value: unknown): value is SealedFact {
  if (!isRecord(value) || !hasTexts(value, ['id', 'what', 'fingerprint'])) return false
  return isRecord(value['leaves']) && isListOf(value['becomes'] ?? [], isBecomes)
}

function isBecomes(value: unknown): value is object {
  if (!isRecord(value) || !hasTexts(value, ['step', 'by'])) return false
  return isListOf(value['fields'], (field): field is object => isRecord(field) && hasTexts(field, ['path']))
}

const isListOf = <T>(value: unknown, isOne: (one: unknown) => one is T): value is T[] =>
  Array.isArray(value) && value.every((one) => isOne(one))

const hasTexts = (value: Record<string, unknown>, keys: readonly string[]): boolean =>
  keys.every((key) => typeof value[key] === 'string')

const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === 'string'
