type Empty = undefined | null
type Filled<T> = { [K in keyof T as Extract<T[K], Empty> extends never ? K : never]: T[K] } & {
  [K in keyof T as Extract<T[K], Empty> extends never ? never : K]?: Exclude<T[K], Empty>
}

/** The same without members that are undefined, null or an empty text. */
export function filled<T extends object>(members: T): Filled<T> {
  const kept = Object.entries(members).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  return Object.fromEntries(kept) as Filled<T>
}
