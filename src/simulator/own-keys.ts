import { isRecord } from '../lib/kube/object.ts'

const domain = 'simulator.kvup.io/'

/** An annotation or a finalizer by which the simulator notes what it has to do with an object. */
export const ownKey = (name: string): string => `${domain}${name}`

/**
 * The same object without any of the simulator's own keys, wherever in it they stand: in a cluster everybody can write them, and there they are no order. What has none is not copied.
 */
export const withoutOwnKeys = <T extends object>(object: T): T => stripped(object) as T

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return strippedList(value)
  return isRecord(value) ? strippedRecord(value) : value
}

function strippedList(list: readonly unknown[]): readonly unknown[] {
  const clean = list.filter((one) => typeof one !== 'string' || !isOwn(one)).map(stripped)
  return clean.length === list.length && clean.every((one, i) => one === list[i]) ? list : clean
}

function strippedRecord(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const before = Object.entries(record)
  const clean = before
    .filter(([key]) => !isOwn(key))
    .map(([key, value]): [string, unknown] => [key, stripped(value)])
  const isSame = clean.length === before.length && clean.every(([key, value]) => value === record[key])
  return isSame ? record : Object.fromEntries(clean)
}

const isOwn = (key: string): boolean => key.startsWith(domain)
