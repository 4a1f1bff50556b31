package printable

import "reflect"

// Of returns a copy of v in which every text that can be reached by exported
// fields, elements, keys and pointers is shown by Line. A field that is tagged
// `printable:"lines"` keeps its line breaks. Bytes, functions, errors and
// unexported fields stay as they are, shared with v.
func Of[T any](v T) T {
	from := reflect.ValueOf(&v).Elem()
	return copyOf(from, Line).Interface().(T)
}

// copyOf returns a deep copy of v in which every text is replaced by how of it.
func copyOf(v reflect.Value, how func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(how(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(copyOf(v.Elem(), how))
			out.Set(p)
		}
	case reflect.Interface:
		if !v.IsNil() && v.NumMethod() == 0 {
			out.Set(copyOf(v.Elem(), how))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				out.Field(i).Set(copyOf(v.Field(i), howOf(f, how)))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(copyOf(v.Index(i), how))
		}
	case reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(copyOf(v.Index(i), how))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for _, k := range v.MapKeys() {
				out.SetMapIndex(copyOf(k, how), copyOf(v.MapIndex(k), how))
			}
		}
	}
	return out
}

func howOf(f reflect.StructField, how func(string) string) func(string) string {
	if f.Tag.Get("printable") == "lines" {
		return Lines
	}
	return how
}
