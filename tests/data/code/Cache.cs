using System;

namespace Example.Caching
{
    /// <summary>Keeps what was computed.</summary>
    [Serializable]
    public class Cache<T> : ICache
    {
        private int size;

        public int Size
        {
            get { return size; }
            set { size = value; }
        }

        public Cache(int size)
        {
            this.size = size;
        }

        public T Get(string key)
        {
            return Load(key);
        }
    }

    public enum Mode
    {
        Fast,
        Safe,
    }
}
