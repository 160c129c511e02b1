/** What was found before anything is done. `id` is also what `--accept` takes; the remedy is what to type next. */
export interface HopFinding {
  id: string
  level: 'info' | 'warning' | 'blocker' | 'not-checked'
  summary: string
  remedy: readonly string[]
  objects?: readonly string[]
}
