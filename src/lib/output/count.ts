/** `1 VM`, `3 VMs`, `no VMs`. */
export function count(n: number, noun: string): string {
  return `${n === 0 ? 'no' : n} ${noun}${n === 1 ? '' : 's'}`
}
