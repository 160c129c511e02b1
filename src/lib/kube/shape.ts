import { isRecord } from './object.ts'

/**
 * What a value from outside has to be, as JSON can say it: `text`, `number`, `count` (whole), `flag`, `record`, one of some texts (`kept|broken`), a list of one shape, or an object with
 * these members. A member whose name ends with `?` may be absent; `*` stands for every one.
 */
export type Shape = string | readonly Shape[] | { readonly [name: string]: Shape }

const plain: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  number: Number.isFinite,
  count: Number.isSafeInteger,
  flag: (value) => typeof value === 'boolean',
  record: isRecord,
}

/** Whether it has the shape; members that the shape does not name may be anything. */
export function fits(value: unknown, shape: Shape): boolean {
  if (typeof shape === 'string') return plain[shape]?.(value) ?? shape.split('|').includes(String(value))
  if (isList(shape)) return Array.isArray(value) && value.every((one) => shape.some((is) => fits(one, is)))
  if (!isRecord(value)) return false
  return Object.entries(shape).every(([name, below]) => {
    if (name === '*') return Object.values(value).every((one) => fits(one, below))
    const member = value[name.replace(/\?$/u, '')]
    return (name.endsWith('?') && member === undefined) || fits(member, below)
  })
}

const isList = (shape: Shape): shape is readonly Shape[] => Array.isArray(shape)
