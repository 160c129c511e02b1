import { goldenScreens } from './golden.ts'

goldenScreens({ columns: 120, rows: 40 })
